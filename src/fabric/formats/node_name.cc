#include "fabric/formats/node_name.h"

#include <fmt/format.h>

namespace holdfast::fabric {

std::string node_id(const Node& node) {
  return fmt::format("{}-{:016x}", node.kind == NodeKind::switch_ ? 'S' : 'H', node.guid);
}

std::string clean_name(std::string_view name) {
  constexpr std::size_t longest = 63;  // NodeDescription has 64 bytes, and programs end it with a zero
  std::string clean(name.substr(0, longest));
  for (char& letter : clean) {
    if (letter == '"') letter = '\'';
    if (static_cast<unsigned char>(letter) < ' ' || letter == 127) letter = ' ';
  }
  return clean;
}

}  // namespace holdfast::fabric
