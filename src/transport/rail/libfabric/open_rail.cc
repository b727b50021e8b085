#include "transport/rail/libfabric/open_rail.h"

#include <algorithm>
#include <cstdint>

#include "transport/rail/libfabric/libfabric_rail.h"
#include "transport/rail/udp/udp_rail.h"

namespace holdfast::transport {

Result<std::unique_ptr<Rail>> open_rail(const RailSpec& spec, std::size_t most_packet_bytes, const std::string& node,
                                        const std::string& service) {
  if (spec.kind == "udp") {
    auto rail = UdpRail::open(spec.interface, most_packet_bytes, node, service);
    if (!rail.ok()) return rail.status();
    return std::unique_ptr<Rail>(std::move(rail).value());
  }
  auto rail = LibfabricRail::open(spec, most_packet_bytes, node, service);
  if (!rail.ok()) return rail.status();
  return std::unique_ptr<Rail>(std::move(rail).value());
}

std::size_t likely_packet_bytes(const RailSpec& spec) {
  return spec.kind == "udp" ? UdpRail::likely_packet_bytes(spec.interface) : SIZE_MAX;
}

Result<std::vector<std::byte>> resolve_on_rail(const RailSpec& spec, const char* node, const char* service) {
  return spec.kind == "udp" ? UdpRail::resolve(node, service) : LibfabricRail::resolve(spec, node, service);
}

std::vector<FoundRail> find_rails(std::string_view kind) {
  std::vector<FoundRail> rails;
  const auto add = [&rails](FoundRail found) {
    const bool known =
        std::any_of(rails.begin(), rails.end(), [&](const FoundRail& other) { return other.spec == found.spec; });
    if (!known) rails.push_back(std::move(found));
  };
  for (const std::string_view one : rail_kinds) {
    if (kind.empty() ? one == "sockets" : one != kind) continue;
    if (one == "udp") {
      for (const UdpRail::Interface& each : UdpRail::interfaces()) add({{std::string(one), each.name}, each.loopback});
    } else {
      for (const std::string& domain : LibfabricRail::domains(one)) {
        add({{std::string(one), domain == one ? "" : domain}, domain == "lo"});
      }
    }
  }
  return rails;
}

}  // namespace holdfast::transport
