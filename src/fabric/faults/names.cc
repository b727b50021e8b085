#include "fabric/faults/names.h"

#include <charconv>

#include "core/status/hint.h"

namespace holdfast::fabric {

namespace {

Status unknown(const Fabric& fabric, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Node& node : fabric.nodes()) names.push_back(node.name);
  return {Code::bad_input, "looking for a link", "the fabric has nothing of the name '" + std::string(name) + "'",
          did_you_mean(name.substr(0, name.rfind('/')), names, "name a port as NODE/PORT, or two nodes")};
}

}  // namespace

std::string port_name(const Fabric& fabric, PortId port) {
  return fabric.node(fabric.port(port).node).name + "/" + std::to_string(fabric.number_of(port));
}

std::string link_name(const Fabric& fabric, LinkId link) {
  return port_name(fabric, fabric.link(link).a) + " - " + port_name(fabric, fabric.link(link).b);
}

NodeId find_node(const Fabric& fabric, std::string_view name) {
  if (const NodeId node = fabric.find(name); node != none) return node;
  std::uint64_t guid = 0;
  if (!name.starts_with("0x")) return none;
  const auto [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), guid, 16);
  return error == std::errc() && end == name.data() + name.size() ? fabric.find_guid(guid) : none;
}

PortId find_port(const Fabric& fabric, std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return none;
  const NodeId node = find_node(fabric, name.substr(0, slash));
  if (node == none) return none;
  std::uint32_t number = 0;
  const std::string_view digits = name.substr(slash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number == 0 ||
      number > fabric.node(node).port_count)
    return none;
  return fabric.port_of(node, static_cast<std::uint8_t>(number));
}

Result<std::vector<LinkId>> find_links(const Fabric& fabric, const fault::Link& link) {
  if (link.b.empty()) {
    const PortId port = find_port(fabric, link.a);
    if (port == none) return unknown(fabric, link.a);
    if (fabric.port(port).link == none)
      return Status(Code::bad_input, "looking for a link", "port " + link.a + " has no cable", "name another port");
    return std::vector{fabric.port(port).link};
  }
  // Each end is a node, or one port of it.
  NodeId nodes[2] = {none, none};
  PortId ports[2] = {none, none};
  const std::string* names[2] = {&link.a, &link.b};
  for (int i = 0; i < 2; ++i) {
    nodes[i] = find_node(fabric, *names[i]);
    if (nodes[i] != none) continue;
    ports[i] = find_port(fabric, *names[i]);
    if (ports[i] == none) return unknown(fabric, *names[i]);
    nodes[i] = fabric.port(ports[i]).node;
  }
  std::vector<LinkId> found;
  for (std::uint32_t number = 1; number <= fabric.node(nodes[0]).port_count; ++number) {
    const PortId here = fabric.node(nodes[0]).first_port + number;
    const LinkId id = fabric.port(here).link;
    if (id == none || (ports[0] != none && ports[0] != here)) continue;
    const PortId there = fabric.link(id).a == here ? fabric.link(id).b : fabric.link(id).a;
    if (fabric.port(there).node == nodes[1] && (ports[1] == none || ports[1] == there)) found.push_back(id);
  }
  if (found.empty())
    return Status(Code::bad_input, "looking for a link", "there is none between " + link.a + " and " + link.b,
                  "name a port as NODE/PORT, or two neighbours");
  return found;
}

Result<std::vector<LinkId>> find_links(const Fabric& fabric, std::string_view text) {
  const std::size_t between = text.find(" - ");
  if (between == std::string_view::npos) return find_links(fabric, fault::Link{std::string(text), ""});
  return find_links(fabric, fault::Link{std::string(text.substr(0, between)), std::string(text.substr(between + 3))});
}

}  // namespace holdfast::fabric
