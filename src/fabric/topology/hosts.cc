#include "fabric/topology/hosts.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace holdfast::fabric {
namespace {

/// "HCA-1", "mlx5_0", "hfi1_0", "qib0": a driver's word and numbers.
bool names_a_device(std::string_view word) {
  constexpr std::array<std::string_view, 8> drivers = {"HCA-", "mlx", "mthca", "hfi", "qib", "ipath", "efa", "irdma"};
  const auto driver = std::ranges::find_if(drivers, [&](std::string_view one) { return word.starts_with(one); });
  if (driver == drivers.end() || word.size() == driver->size()) return false;
  return std::ranges::all_of(word.substr(driver->size()),
                             [](char letter) { return (letter >= '0' && letter <= '9') || letter == '_'; });
}

}  // namespace

std::string_view host_of(std::string_view node_name) {
  const std::size_t blank = node_name.rfind(' ');
  if (blank == std::string_view::npos || blank == 0 || !names_a_device(node_name.substr(blank + 1))) return node_name;
  return node_name.substr(0, blank);
}

bool is_aggregation_node(const Node& node) {
  return node.kind == NodeKind::adapter && node.name.find("Aggregation Node") != std::string::npos;
}

HostCount count_hosts(const Fabric& fabric) {
  HostCount count;
  std::unordered_set<std::string_view> hosts;
  for (const Node& node : fabric.nodes()) {
    if (node.kind != NodeKind::adapter) continue;
    std::uint32_t cabled = 0;
    for (std::uint32_t number = 1; number <= node.port_count; ++number)
      cabled += fabric.port(node.first_port + number).link == none ? 0 : 1;
    if (cabled == 0) continue;
    if (is_aggregation_node(node)) {
      ++count.aggregation_nodes;
      continue;
    }
    ++count.adapters;
    count.ports += cabled;
    hosts.insert(host_of(node.name));
  }
  count.hosts = static_cast<std::uint32_t>(hosts.size());
  return count;
}

}  // namespace holdfast::fabric
