#include "fabric/faults/difference.h"

#include <algorithm>
#include <unordered_map>

namespace holdfast::fabric {

namespace {

using NodesByGuid = std::unordered_map<std::uint64_t, NodeId>;

NodesByGuid by_guid(const Fabric& fabric) {
  NodesByGuid nodes;
  nodes.reserve(fabric.nodes().size());
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) nodes.try_emplace(fabric.node(id).guid, id);
  return nodes;
}

/// The same port of another fabric; `none` when that has no such node or port.
PortId counterpart(const Fabric& fabric, PortId port, const Fabric& other, const NodesByGuid& nodes) {
  const auto found = nodes.find(fabric.node(fabric.port(port).node).guid);
  if (found == nodes.end() || fabric.number_of(port) > other.node(found->second).port_count) return none;
  return other.port_of(found->second, fabric.number_of(port));
}

/// The link of another fabric between the same ports; `none` when that has none, or one that is down.
LinkId counterpart_link(const Fabric& fabric, LinkId id, const Fabric& other, const NodesByGuid& nodes) {
  const PortId a = counterpart(fabric, fabric.link(id).a, other, nodes);
  const PortId b = counterpart(fabric, fabric.link(id).b, other, nodes);
  if (a == none || b == none || other.peer(a) != b) return none;
  return other.port(a).link;
}

bool below(LinkRate a, LinkRate b) {
  return a.lanes < b.lanes || a.speed < b.speed;
}

bool same_lids(const Fabric& before, NodeId was, const Fabric& after, NodeId is) {
  const std::uint32_t ports = std::min(before.node(was).port_count, after.node(is).port_count);
  for (std::uint32_t number = before.is_switch(was) ? 0 : 1; number <= ports; ++number) {
    const Port& a = before.port(before.node(was).first_port + number);
    const Port& b = after.port(after.node(is).first_port + number);
    if (a.lid != b.lid || a.lmc != b.lmc) return false;
  }
  return true;
}

}  // namespace

Difference difference(const Fabric& before, const Fabric& after) {
  Difference found;
  const NodesByGuid then = by_guid(before);
  const NodesByGuid now = by_guid(after);
  for (NodeId id = 0; id < before.nodes().size(); ++id) {
    const auto same = now.find(before.node(id).guid);
    if (same == now.end()) {
      found.lost_nodes.push_back(id);
      continue;
    }
    if (before.node(id).name != after.node(same->second).name) found.renamed.push_back({id, same->second});
    if (!same_lids(before, id, after, same->second)) found.new_lids.push_back({id, same->second});
  }
  for (NodeId id = 0; id < after.nodes().size(); ++id) {
    if (!then.contains(after.node(id).guid)) found.new_nodes.push_back(id);
  }
  for (LinkId id = 0; id < before.links().size(); ++id) {
    if (!before.link(id).up) continue;
    const LinkId same = counterpart_link(before, id, after, now);
    if (same == none)
      found.lost_links.push_back(id);
    else if (below(after.link(same).rate, before.link(id).rate))
      found.slower_links.push_back({id, same});
    else if (below(before.link(id).rate, after.link(same).rate))
      found.faster_links.push_back({id, same});
  }
  for (LinkId id = 0; id < after.links().size(); ++id) {
    if (after.link(id).up && counterpart_link(after, id, before, then) == none) found.new_links.push_back(id);
  }
  return found;
}

Fabric as_observed(const Fabric& healthy, const Fabric& observed) {
  Fabric fabric = healthy;
  for (LinkId id : difference(healthy, observed).lost_links) fabric.set_link_up(id, false);
  return fabric;
}

}  // namespace holdfast::fabric
