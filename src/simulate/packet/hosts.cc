#include "simulate/packet/hosts.h"

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

}  // namespace holdfast::simulate
