#include "fabric/formats/node_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/markup/escape.h"

namespace holdfast::fabric {

std::string node_id(const Node& node) {
  return fmt::format("{}-{:016x}", node.kind == NodeKind::switch_ ? 'S' : 'H', node.guid);
}

std::string clean_name(std::string_view name) {
  constexpr std::size_t longest = 63;  // NodeDescription has 64 bytes, and programs end it with a zero
  std::size_t end = 0;
  while (end < name.size() && end + std::max<std::size_t>(letter_length(name.substr(end)), 1) <= longest)
    end += std::max<std::size_t>(letter_length(name.substr(end)), 1);
  std::string clean(name.substr(0, end));
  for (char& letter : clean) {
    if (letter == '"') letter = '\'';
    if (static_cast<unsigned char>(letter) < ' ' || letter == 127) letter = ' ';
  }
  return clean;
}

std::size_t letter_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // written longer than needed, half of a pair of UTF-16, beyond the last letter
  const bool wrong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                     (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : length;
}

std::string xml_name(std::string_view name) {
  std::string plain;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = letter_length(name.substr(at));
    const bool control = static_cast<unsigned char>(name[at]) < ' ' || name[at] == 127;
    const bool no_letter = name.substr(at, 3) == "\xEF\xBF\xBE" || name.substr(at, 3) == "\xEF\xBF\xBF";
    plain += length == 0 || control || no_letter ? "?" : name.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return markup::escaped(plain);
}

}  // namespace holdfast::fabric
