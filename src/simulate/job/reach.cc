#include "simulate/job/reach.h"

#include <algorithm>

#include "simulate/packet/hosts.h"

namespace holdfast::simulate::job {
namespace {

/// By node: some way leads there from these adapters. Adapters pass nothing on.
std::vector<bool> reached_from(const fabric::Fabric& fabric, const std::vector<fabric::PortId>& ports) {
  std::vector<bool> reached(fabric.nodes().size(), false);
  std::vector<fabric::PortId> open = ports;
  for (const fabric::PortId port : ports) reached[fabric.port(port).node] = true;
  while (!open.empty()) {
    const fabric::PortId in = fabric.peer(open.back());
    open.pop_back();
    if (in == fabric::none) continue;
    const fabric::NodeId node = fabric.port(in).node;
    if (reached[node]) continue;
    reached[node] = true;
    if (!fabric.is_switch(node)) continue;
    for (std::uint8_t number = 1; number <= fabric.node(node).port_count; ++number)
      open.push_back(fabric.port_of(node, number));
  }
  return reached;
}

}  // namespace

Status check_reach(const fabric::Fabric& fabric, const std::vector<std::uint32_t>& hosts, bool all_rails) {
  if (hosts.empty()) return {};
  const Hosts adapters(fabric);
  std::vector<std::vector<std::uint32_t>> rails(adapters.count());  // by adapter
  for (std::uint32_t adapter = 0; adapter < adapters.count(); ++adapter) rails[adapter] = {adapter};
  if (all_rails)
    for (const std::vector<std::uint32_t>& own : computers_of(fabric))
      for (const std::uint32_t adapter : own) rails[adapter] = own;
  std::vector<fabric::PortId> from;
  for (const std::uint32_t adapter : rails[hosts.front()]) from.push_back(adapters.ports[adapter]);
  const std::vector<bool> reached = reached_from(fabric, from);
  const auto node_of = [&](std::uint32_t adapter) { return fabric.port(adapters.ports[adapter]).node; };
  for (const std::uint32_t host : hosts)
    if (std::ranges::none_of(rails[host], [&](std::uint32_t adapter) { return reached[node_of(adapter)]; }))
      return {Code::bad_input, "placing ranks",
              "the fabric is cut in two: no way leads from '" + fabric.node(node_of(hosts.front())).name + "' to '" +
                  fabric.node(node_of(host)).name + "'",
              "name other hosts, or other failures"};
  return {};
}

}  // namespace holdfast::simulate::job
