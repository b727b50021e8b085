#include "simulate/job/link_load.h"

#include <algorithm>

#include "simulate/packet/hosts.h"

namespace holdfast::simulate::job {

std::vector<LinkLoad> link_loads(const fabric::Fabric& fabric, const fabric::Forwarding& tables,
                                 const std::vector<Flow>& flows) {
  const Hosts hosts(fabric);
  std::vector<std::uint64_t> bytes(fabric.ports().size());
  for (const Flow& flow : flows) {
    fabric::PortId out = hosts.ports[flow.from];
    // No way is longer than there are switches; a circle ends here.
    for (std::uint32_t hop = 0; hop <= tables.rows() && out != fabric::none; ++hop) {
      const fabric::PortId in = fabric.peer(out);
      if (in == fabric::none) break;
      bytes[out] += flow.bytes;
      const fabric::NodeId node = fabric.port(in).node;
      if (!fabric.is_switch(node)) break;
      const std::uint8_t number = tables.out_port(tables.row_of(node), hosts.lids[flow.to]);
      const bool leads_on = number > 0 && number <= fabric.node(node).port_count;
      out = leads_on ? fabric.port_of(node, number) : fabric::none;
    }
  }
  std::vector<LinkLoad> loads;
  for (fabric::PortId port = 0; port < bytes.size(); ++port)
    if (bytes[port] > 0) loads.push_back({port, bytes[port]});
  std::stable_sort(loads.begin(), loads.end(),
                   [](const LinkLoad& one, const LinkLoad& other) { return one.bytes > other.bytes; });
  return loads;
}

std::string describe(const fabric::Fabric& fabric, fabric::PortId port) {
  const auto end = [&](fabric::PortId one) {
    return fabric.node(fabric.port(one).node).name + "/" + std::to_string(fabric.number_of(one));
  };
  const fabric::PortId other = fabric.peer(port);
  return end(port) + (other == fabric::none ? "" : " to " + end(other));
}

double time_on_link_ps(const fabric::Fabric& fabric, const Parameters& parameters, fabric::PortId port,
                       std::uint64_t bytes) {
  const fabric::LinkId link = fabric.port(port).link;
  if (link == fabric::none) return 0;
  constexpr std::uint64_t sample = 1'000'000;  // Pace counts flits of an integer time
  return static_cast<double>(parameters.link_pace(fabric.link(link).rate).of(sample)) / static_cast<double>(sample) *
         static_cast<double>(bytes);
}

}  // namespace holdfast::simulate::job
