#include "fabric/faults/critical.h"

#include <algorithm>

namespace holdfast::fabric {

Criticality::Criticality(const Fabric& fabric)
    : fabric_(fabric), seen_(fabric.nodes().size(), 0), skip_(fabric.links().size(), false) {}

bool Criticality::usable(PortId port) const {
  const LinkId link = fabric_.port(port).link;
  return link != none && fabric_.link(link).up && !skip_[link];
}

void Criticality::skip(const std::vector<LinkId>& links, bool on) {
  for (LinkId link : links) skip_[link] = on;
}

/// Adapters do not forward: the search ends at them.
std::uint32_t Criticality::hosts_reached(NodeId from, NodeId gone, NodeId target) {
  std::uint32_t hosts = fabric_.is_switch(from) ? 0 : 1;
  ++round_;
  queue_.assign(1, from);
  seen_[from] = round_;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const Node& node = fabric_.node(queue_[i]);
    if (node.kind == NodeKind::adapter && i > 0) continue;
    for (std::uint32_t number = 1; number <= node.port_count; ++number) {
      const PortId port = node.first_port + number;
      if (!usable(port)) continue;
      const NodeId next = fabric_.port(fabric_.peer(port)).node;
      if (next == gone || seen_[next] == round_) continue;
      if (next == target) return none;
      seen_[next] = round_;
      hosts += fabric_.is_switch(next) ? 0 : 1;
      queue_.push_back(next);
    }
  }
  return hosts;
}

bool Criticality::link_is_critical(LinkId link) {
  if (!fabric_.link(link).up) return false;
  const NodeId a = fabric_.port(fabric_.link(link).a).node;
  const NodeId b = fabric_.port(fabric_.link(link).b).node;
  if (a == b) return false;
  skip_[link] = true;
  const std::uint32_t beside_a = hosts_reached(a, none, b);
  const std::uint32_t beside_b = beside_a == none || beside_a == 0 ? 0 : hosts_reached(b, none, none);
  skip_[link] = false;
  return beside_a != none && beside_a > 0 && beside_b > 0;
}

/// For every node the number of its component, from 1; 0 for `gone` and for adapters without a working cable. An
/// adapter belongs to the first component that it touches.
std::vector<std::uint32_t> Criticality::components(NodeId gone) {
  std::vector<std::uint32_t> component(fabric_.nodes().size(), 0);
  std::uint32_t number = 0;
  for (NodeId id = 0; id < fabric_.nodes().size(); ++id) {
    if (id == gone || !fabric_.is_switch(id) || component[id] != 0) continue;
    hosts_reached(id, gone, none);
    ++number;
    for (NodeId reached : queue_) {
      if (component[reached] == 0) component[reached] = number;
    }
  }
  for (const Link& link : fabric_.links()) {  // two adapters, cable to cable
    const NodeId a = fabric_.port(link.a).node;
    const NodeId b = fabric_.port(link.b).node;
    if (!usable(link.a) || fabric_.is_switch(a) || fabric_.is_switch(b) || component[a] != 0 || component[b] != 0)
      continue;
    component[a] = component[b] = ++number;
  }
  return component;
}

bool Criticality::switch_is_critical(NodeId node) {
  const std::vector<std::uint32_t> before = components(none);
  const std::vector<std::uint32_t> after = components(node);
  // Two hosts of the switch's component, or more, must still share one.
  std::vector<NodeId> hosts;
  for (NodeId id = 0; id < fabric_.nodes().size(); ++id) {
    if (!fabric_.is_switch(id) && before[id] != 0 && before[id] == before[node]) hosts.push_back(id);
  }
  return hosts.size() > 1 && std::ranges::any_of(hosts, [&](NodeId host) {
           return after[host] == 0 || after[host] != after[hosts.front()];
         });
}

Loss Criticality::loss_without(const std::vector<LinkId>& links) {
  const std::vector<std::uint32_t> before = components(none);
  skip(links, true);
  const std::vector<std::uint32_t> after = components(none);
  skip(links, false);
  auto largest = [&](const std::vector<std::uint32_t>& component) {
    std::vector<std::uint32_t> hosts(fabric_.nodes().size() + 1, 0);
    for (NodeId id = 0; id < component.size(); ++id) {
      if (!fabric_.is_switch(id) && component[id] != 0) ++hosts[component[id]];
    }
    return static_cast<std::uint32_t>(std::ranges::max_element(hosts) - hosts.begin());
  };
  const std::uint32_t main_before = largest(before);
  const std::uint32_t main_after = largest(after);
  Loss loss;
  for (NodeId id = 0; id < after.size(); ++id) {
    if (!fabric_.is_switch(id) && before[id] != 0 && before[id] == main_before && after[id] != main_after)
      loss.hosts.push_back(id);
  }
  return loss;
}

}  // namespace holdfast::fabric
