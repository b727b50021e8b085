#include "simulate/collective/hard_failures.h"

#include <map>
#include <set>

namespace holdfast::simulate::collective {
namespace {

/// An adapter's cables are several wires of one link; survive() counts them in the order of the wires.
std::vector<HardFailure> cables_of(const Tree& tree) {
  std::vector<HardFailure> parts;
  std::map<fabric::LinkId, std::uint8_t> cables;
  const bool several = !tree.edges.empty() && tree.edges.front().cables;
  for (std::uint32_t wire = 0; wire < tree.wires.size(); ++wire) {
    if (tree.host_wire[wire] == 0) continue;
    HardFailure failure;
    failure.link = tree.wires[wire];
    if (several) failure.cable = cables[failure.link]++;
    parts.push_back(failure);
  }
  return parts;
}

std::vector<HardFailure> links_between_switches(const Tree& tree) {
  std::vector<HardFailure> parts;
  std::set<fabric::LinkId> seen;
  for (std::uint32_t wire = 0; wire < tree.wires.size(); ++wire)
    if (tree.host_wire[wire] == 0 && seen.insert(tree.wires[wire]).second) parts.push_back({.link = tree.wires[wire]});
  return parts;
}

std::vector<HardFailure> switches_without_hosts(const Tree& tree, const fabric::Fabric& fabric) {
  std::set<fabric::NodeId> with_hosts, seen;
  for (std::uint32_t wire = 0; wire < tree.wires.size(); ++wire) {
    if (tree.host_wire[wire] == 0) continue;
    const fabric::Link& link = fabric.link(tree.wires[wire]);
    with_hosts.insert(fabric.port(link.a).node);
    with_hosts.insert(fabric.port(link.b).node);
  }
  std::vector<HardFailure> parts;
  for (std::uint32_t node = tree.hosts; node < tree.nodes.size(); ++node) {
    const fabric::NodeId id = tree.nodes[node].id;
    if (!with_hosts.contains(id) && seen.insert(id).second) parts.push_back({.switch_node = id});
  }
  return parts;
}

}  // namespace

std::vector<HardFailure> failing_parts(const Tree& tree, const fabric::Fabric& fabric, FailureKind kind) {
  switch (kind) {
    case FailureKind::none:
      return {};
    case FailureKind::link:
      return links_between_switches(tree);
    case FailureKind::switch_:
      return switches_without_hosts(tree, fabric);
    case FailureKind::cable:
      return cables_of(tree);
  }
  return {};
}

}  // namespace holdfast::simulate::collective
