#include "fabric/topology/levels.h"

namespace holdfast::fabric {

namespace {

/// Distance of every switch from the nearest one with hosts; `none` for those that reach none.
std::vector<std::uint32_t> distances_from_hosts(const Fabric& fabric) {
  std::vector<std::uint32_t> distance(fabric.nodes().size(), none);
  std::vector<NodeId> queue;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (fabric.is_switch(id)) continue;
    for (std::uint32_t number = 1; number <= fabric.node(id).port_count; ++number) {
      const PortId peer = fabric.peer(fabric.node(id).first_port + number);
      if (peer == none) continue;
      const NodeId at = fabric.port(peer).node;
      if (!fabric.is_switch(at) || distance[at] == 0) continue;
      distance[at] = 0;
      queue.push_back(at);
    }
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Node& node = fabric.node(queue[i]);
    for (std::uint32_t number = 1; number <= node.port_count; ++number) {
      const PortId peer = fabric.peer(node.first_port + number);
      if (peer == none) continue;
      const NodeId next = fabric.port(peer).node;
      if (!fabric.is_switch(next) || distance[next] != none) continue;
      distance[next] = distance[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  return distance;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> tree_levels(const Fabric& fabric) {
  std::vector<std::uint32_t> level = distances_from_hosts(fabric);
  bool above = false;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id)) {
      level[id] = 0;
      continue;
    }
    if (level[id] == none) return std::nullopt;
    above = above || level[id] > 0;
  }
  if (!above) return std::nullopt;
  for (const Link& link : fabric.links()) {
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (link.up && fabric.is_switch(a) && fabric.is_switch(b) && level[a] + 1 != level[b] && level[b] + 1 != level[a])
      return std::nullopt;
  }
  return level;
}

std::vector<NodeId> tree_roots(const Fabric& fabric) {
  std::vector<NodeId> roots;
  const auto level = tree_levels(fabric);
  if (!level) return roots;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    bool top = fabric.is_switch(id) && (*level)[id] > 0;
    for (std::uint32_t number = 1; top && number <= fabric.node(id).port_count; ++number) {
      const PortId peer = fabric.peer(fabric.node(id).first_port + number);
      top = peer == none || (*level)[fabric.port(peer).node] < (*level)[id];
    }
    if (top) roots.push_back(id);
  }
  return roots;
}

}  // namespace holdfast::fabric
