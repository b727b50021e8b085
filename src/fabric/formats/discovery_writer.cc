#include <fmt/format.h>

#include <iterator>

#include "fabric/formats/discovery.h"
#include "fabric/formats/node_name.h"

namespace holdfast::fabric {
namespace {

void write_head(fmt::memory_buffer& text, const Fabric& fabric, const Node& node) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nvendid=0x{:x}\ndevid=0x{:x}\n", node.vendor_id, node.device_id);
  if (node.system_guid != 0) fmt::format_to(out, "sysimgguid=0x{:x}\n", node.system_guid);
  const Port& own = fabric.port(node.first_port);
  if (node.kind == NodeKind::switch_) {
    fmt::format_to(out, "switchguid=0x{:x}({:x})\nSwitch\t{} \"{}\"\t\t# \"{}\" base port 0 lid {} lmc {}\n", node.guid,
                   own.guid, node.port_count, node_id(node), clean_name(node.name), own.lid, own.lmc);
  } else {
    fmt::format_to(out, "caguid=0x{:x}\nCa\t{} \"{}\"\t\t# \"{}\"\n", node.guid, node.port_count, node_id(node),
                   clean_name(node.name));
  }
}

void write_port(fmt::memory_buffer& text, const Fabric& fabric, PortId id) {
  const PortId other = fabric.peer(id);
  if (other == none) return;
  const Port& port = fabric.port(id);
  const Port& peer = fabric.port(other);
  const Node& remote = fabric.node(peer.node);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "[{}]", fabric.number_of(id));
  if (!fabric.is_switch(port.node)) fmt::format_to(out, "({:x}) ", port.guid);
  fmt::format_to(out, "\t\"{}\"[{}]", node_id(remote), fabric.number_of(other));
  if (remote.kind != NodeKind::switch_)
    fmt::format_to(out, "{}({:x}) ", fabric.is_switch(port.node) ? "" : " ", peer.guid);
  fmt::format_to(out, "\t\t# ");
  if (!fabric.is_switch(port.node)) fmt::format_to(out, "lid {} lmc {} ", port.lid, port.lmc);
  fmt::format_to(out, "\"{}\" lid {} {}\n", clean_name(remote.name), peer.lid, format(fabric.link(port.link).rate));
}

}  // namespace

std::string write_discovery(const Fabric& fabric) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "#\n# Topology file: written by Holdfast\n#\n");
  for (NodeKind kind : {NodeKind::switch_, NodeKind::adapter}) {
    for (const Node& node : fabric.nodes()) {
      if (node.kind != kind) continue;
      write_head(text, fabric, node);
      for (std::uint32_t number = 1; number <= node.port_count; ++number)
        write_port(text, fabric, node.first_port + number);
    }
  }
  return fmt::to_string(text);
}

}  // namespace holdfast::fabric
