#include "fabric/topology/fabric.h"

#include <algorithm>
#include <utility>

namespace holdfast::fabric {

namespace {

PortId lowest_free(const Fabric& fabric, NodeId node) {
  const Node& n = fabric.node(node);
  for (std::uint32_t number = 1; number <= n.port_count; ++number) {
    if (fabric.port(n.first_port + number).link == none) return n.first_port + number;
  }
  return none;
}

}  // namespace

void Fabric::reserve(std::size_t nodes, std::size_t ports, std::size_t links) {
  nodes_.reserve(nodes);
  ports_.reserve(ports);
  links_.reserve(links);
}

NodeId Fabric::add_node(NodeKind kind, std::uint8_t port_count, std::string name, std::uint64_t guid) {
  const auto id = static_cast<NodeId>(nodes_.size());
  if (guid == 0) guid = next_guid_;
  next_guid_ = std::max(next_guid_, guid) + port_count + 1;
  Node node;
  node.kind = kind;
  node.port_count = port_count;
  node.first_port = static_cast<PortId>(ports_.size());
  node.guid = guid;
  node.system_guid = guid;
  node.name = std::move(name);
  nodes_.push_back(std::move(node));
  for (std::uint32_t number = 0; number <= port_count; ++number) {
    Port port;
    port.node = id;
    port.guid = kind == NodeKind::switch_ ? guid : guid + number;
    ports_.push_back(port);
  }
  if (kind == NodeKind::switch_) ++switch_count_;
  return id;
}

LinkId Fabric::add_link(PortId a, PortId b, LinkRate rate) {
  const auto id = static_cast<LinkId>(links_.size());
  Link link;
  link.a = a;
  link.b = b;
  link.rate = rate;
  links_.push_back(link);
  ports_[a].link = id;
  ports_[b].link = id;
  return id;
}

LinkId Fabric::connect(NodeId a, NodeId b, LinkRate rate) {
  const PortId from = lowest_free(*this, a);
  if (from == none) return none;
  PortId to = lowest_free(*this, b);
  if (a == b) {  // the second free port of the same node
    const LinkId held = std::exchange(ports_[from].link, 0);
    to = lowest_free(*this, b);
    ports_[from].link = held;
  }
  if (to == none) return none;
  return add_link(from, to, rate);
}

void Fabric::assign_lids(std::uint32_t lmc) {
  Lid next = 1;
  for (const Node& node : nodes_) {
    if (node.kind != NodeKind::switch_) continue;
    for (std::uint32_t number = 0; number <= node.port_count; ++number) {
      ports_[node.first_port + number].lid = next;
      ports_[node.first_port + number].lmc = 0;
    }
    ++next;
  }
  const Lid block = Lid{1} << lmc;
  next = (next + block - 1) / block * block;
  for (const Node& node : nodes_) {
    if (node.kind == NodeKind::switch_) continue;
    for (std::uint32_t number = 1; number <= node.port_count; ++number) {
      Port& port = ports_[node.first_port + number];
      port.lid = port.link == none ? 0 : next;
      port.lmc = static_cast<std::uint8_t>(port.link == none ? 0 : lmc);
      next += port.link == none ? 0 : block;
    }
  }
}

NodeId Fabric::find(std::string_view name) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes_.end() ? none : static_cast<NodeId>(found - nodes_.begin());
}

NodeId Fabric::find_guid(std::uint64_t guid) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.guid == guid; });
  return found == nodes_.end() ? none : static_cast<NodeId>(found - nodes_.begin());
}

Lid Fabric::top_lid() const {
  Lid top = 0;
  for (const Port& port : ports_) {
    if (port.lid != 0) top = std::max(top, port.lid + (Lid{1} << port.lmc) - 1);
  }
  return top;
}

}  // namespace holdfast::fabric
