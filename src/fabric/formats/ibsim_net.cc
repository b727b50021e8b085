#include "fabric/formats/ibsim_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fabric/formats/node_name.h"

namespace holdfast::fabric {

namespace {

/// LinkWidthEnabled and LinkSpeedEnabled of PortInfo (InfiniBand Architecture Specification 1.3, 14.2.5.6), as far as
/// ibsim knows them.
int width_bit(LinkRate rate) {
  return rate.lanes >= 12 ? 8 : rate.lanes >= 8 ? 4 : rate.lanes >= 4 ? 2 : 1;
}
int speed_bit(LinkRate rate) {
  return rate.speed == LaneSpeed::sdr ? 1 : rate.speed == LaneSpeed::ddr ? 2 : 4;
}

void write_head(fmt::memory_buffer& text, const Fabric& fabric, const Node& node) {
  const bool is_switch = node.kind == NodeKind::switch_;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nvendid=0x{:x}\ndevid=0x{:x}\nsysimgguid=0x{:x}\n{}=0x{:x}\n", node.vendor_id, node.device_id,
                 node.system_guid, is_switch ? "switchguid" : "caguid", node.guid);
  fmt::format_to(out, "{}\t{} \"{}\"\t\t# \"{}\"", is_switch ? "Switch" : "Ca", node.port_count, node_id(node),
                 clean_name(node.name));
  const Port& own = fabric.port(node.first_port);
  if (is_switch) fmt::format_to(out, " base port 0 lid {} lmc {}", own.lid, own.lmc);
  text.push_back('\n');
}

/// Everything behind '=' on such a line is an option to ibsim, comments included: no names here.
void write_port(fmt::memory_buffer& text, const Fabric& fabric, PortId id) {
  const PortId other = fabric.peer(id);
  if (other == none) return;
  const Port& port = fabric.port(id);
  const Node& remote = fabric.node(fabric.port(other).node);
  const LinkRate rate = fabric.link(port.link).rate;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "[{}]\t\"{}\"[{}]\tw={} s={}", fabric.number_of(id), node_id(remote), fabric.number_of(other),
                 width_bit(rate), speed_bit(rate));
  if (!fabric.is_switch(port.node)) fmt::format_to(out, "\t\t# lid {} lmc {}", port.lid, port.lmc);
  text.push_back('\n');
}

}  // namespace

std::string write_ibsim_net(const Fabric& fabric) {
  fmt::memory_buffer text;
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
