#include "simulate/packet/hosts.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "fabric/topology/hosts.h"

namespace holdfast::simulate {

Hosts::Hosts(const fabric::Fabric& fabric) {
  for (const fabric::Node& node : fabric.nodes()) {
    if (node.kind != fabric::NodeKind::adapter) continue;
    for (fabric::PortId port = node.first_port + 1; port <= node.first_port + node.port_count; ++port) {
      if (fabric.port(port).lid == 0) continue;
      ports.push_back(port);
      lids.push_back(fabric.port(port).lid);
    }
  }
}

std::vector<std::vector<std::uint32_t>> computers_of(const fabric::Fabric& fabric) {
  const Hosts adapters(fabric);
  const auto node_of = [&](std::uint32_t adapter) { return fabric.port(adapters.ports[adapter]).node; };
  const auto name_of = [&](std::uint32_t adapter) -> const std::string& { return fabric.node(node_of(adapter)).name; };
  std::unordered_map<std::string_view, fabric::NodeId> named;
  std::unordered_set<std::string_view> unclear;  // computers
  for (std::uint32_t adapter = 0; adapter < adapters.count(); ++adapter) {
    const auto [known, is_new] = named.try_emplace(name_of(adapter), node_of(adapter));
    if (!is_new && known->second != node_of(adapter)) unclear.insert(fabric::host_of(name_of(adapter)));
  }
  std::vector<std::vector<std::uint32_t>> computers;
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (std::uint32_t adapter = 0; adapter < adapters.count(); ++adapter) {
    const std::string_view host = fabric::host_of(name_of(adapter));
    std::string key(host);
    if (unclear.contains(host)) key += '\n' + std::to_string(node_of(adapter));
    const auto [known, is_new] = numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(computers.size()));
    if (is_new) computers.emplace_back();
    computers[known->second].push_back(adapter);
  }
  for (std::vector<std::uint32_t>& own : computers)
    std::ranges::stable_sort(own, [&](std::uint32_t a, std::uint32_t b) { return name_of(a) < name_of(b); });
  return computers;
}

}  // namespace holdfast::simulate
