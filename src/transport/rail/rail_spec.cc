#include "transport/rail/rail_spec.h"

#include <algorithm>

#include "core/status/hint.h"

namespace holdfast::transport {

namespace {

Result<integrity::Checksum> read_checksum(const RailSpec& spec, std::string_view name) {
  const auto& names = integrity::checksum_names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<integrity::Checksum>(found - names.begin());
  return Status(Code::bad_input, "reading the rails", "'" + std::string(name) + "' is no checksum",
                did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()),
                             "write it as in " + spec.text() + "/crc32c"));
}

}  // namespace

std::string RailSpec::text() const {
  std::string name = interface.empty() ? kind : kind + "@" + interface;
  if (checksum) name += "/" + std::string(integrity::checksum_names[static_cast<std::size_t>(*checksum)]);
  return name;
}

Result<std::vector<RailSpec>> parse_rails(std::string_view text) {
  std::vector<RailSpec> specs;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t slash = std::min(word.find('/'), word.size());
    const std::string_view place = word.substr(0, slash);
    const std::size_t at = std::min(place.find('@'), place.size());
    RailSpec spec{std::string(place.substr(0, at)), std::string(place.substr(std::min(at + 1, place.size()))), {}};
    if (std::find(rail_kinds.begin(), rail_kinds.end(), spec.kind) == rail_kinds.end()) {
      const std::vector<std::string_view> names(rail_kinds.begin(), rail_kinds.end());
      return Status(Code::bad_input, "reading the rails", "'" + spec.kind + "' is no kind of rail",
                    did_you_mean(spec.kind, names, "write them as tcp@eth0,tcp@eth1,udp or shm"));
    }
    if (slash < word.size()) {
      auto checksum = read_checksum(spec, word.substr(slash + 1));
      if (!checksum.ok()) return checksum.status();
      spec.checksum = checksum.value();
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace holdfast::transport
