#include "transport/rail/rail_spec.h"

#include <algorithm>

#include "core/status/hint.h"

namespace holdfast::transport {

Result<std::vector<RailSpec>> parse_rails(std::string_view text) {
  std::vector<RailSpec> specs;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t at = std::min(word.find('@'), word.size());
    RailSpec spec{std::string(word.substr(0, at)), std::string(word.substr(std::min(at + 1, word.size())))};
    if (std::find(rail_kinds.begin(), rail_kinds.end(), spec.kind) == rail_kinds.end()) {
      const std::vector<std::string_view> names(rail_kinds.begin(), rail_kinds.end());
      return Status(Code::bad_input, "reading the rails", "'" + spec.kind + "' is no kind of rail",
                    did_you_mean(spec.kind, names, "write them as tcp@eth0,tcp@eth1,udp or shm"));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace holdfast::transport
