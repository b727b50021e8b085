#include "fabric/topology/renumbering.h"

#include <numeric>
#include <utility>

#include "core/random/stream.h"

namespace holdfast::fabric {
namespace {

template <class Item>
void shuffle(std::vector<Item>& items, random::Stream& draw) {
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[draw.below(left)]);
}

void copy_nodes(const Fabric& fabric, const Renumbering& numbers, Fabric& made) {
  for (const NodeId old : numbers.nodes) {
    const Node& from = fabric.node(old);
    Node& to = made.mutable_node(made.add_node(from.kind, from.port_count, from.name, from.guid));
    to.guid = from.guid;
    to.system_guid = from.system_guid;
    to.vendor_id = from.vendor_id;
    to.device_id = from.device_id;
  }
  for (PortId id = 0; id < numbers.ports.size(); ++id) {
    const Port& from = fabric.port(numbers.ports[id]);
    Port& to = made.mutable_port(id);
    to.lid = from.lid;
    to.lmc = from.lmc;
    to.guid = from.guid;
    to.capable = from.capable;
  }
}

}  // namespace

Fabric renumber(const Fabric& fabric, const Renumbering& numbers) {
  Fabric made;
  made.reserve(fabric.nodes().size(), fabric.ports().size(), fabric.links().size());
  copy_nodes(fabric, numbers, made);
  std::vector<PortId> new_of(numbers.ports.size());
  for (PortId id = 0; id < numbers.ports.size(); ++id) new_of[numbers.ports[id]] = id;
  for (PortId id = 0; id < numbers.ports.size(); ++id) {
    const PortId old = numbers.ports[id];
    if (fabric.port(old).link == none || made.port(id).link != none) continue;
    const Link& cable = fabric.link(fabric.port(old).link);
    const LinkId link = made.add_link(id, new_of[cable.a == old ? cable.b : cable.a], cable.rate);
    made.mutable_link(link).length_m = cable.length_m;
    made.set_link_up(link, cable.up);
  }
  return made;
}

Renumbering draw_renumbering(const Fabric& fabric, std::uint64_t seed) {
  random::Stream draw = random::Stream(seed).child("renumbering");
  std::vector<NodeId> nodes;
  std::vector<NodeId> adapters;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node)
    (fabric.is_switch(node) ? nodes : adapters).push_back(node);
  shuffle(nodes, draw);
  shuffle(adapters, draw);
  nodes.insert(nodes.end(), adapters.begin(), adapters.end());
  RenumberingMaker maker(fabric);
  for (const NodeId node : nodes) {
    if (!fabric.is_switch(node)) {
      maker.add(node);
      continue;
    }
    std::vector<std::uint8_t> ports(fabric.node(node).port_count);
    std::iota(ports.begin(), ports.end(), std::uint8_t{1});
    shuffle(ports, draw);
    maker.add(node, ports);
  }
  return maker.take();
}

void RenumberingMaker::add(NodeId node, const std::vector<std::uint8_t>& ports) {
  made_.nodes.push_back(node);
  made_.ports.push_back(fabric_.node(node).first_port);
  for (const std::uint8_t number : ports) made_.ports.push_back(fabric_.port_of(node, number));
}

void RenumberingMaker::add(NodeId node) {
  made_.nodes.push_back(node);
  for (std::uint32_t number = 0; number <= fabric_.node(node).port_count; ++number)
    made_.ports.push_back(fabric_.node(node).first_port + number);
}

}  // namespace holdfast::fabric
