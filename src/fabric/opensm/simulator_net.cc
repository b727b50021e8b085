#include "fabric/opensm/simulator_net.h"

#include <cstdio>

namespace holdfast::fabric::opensm {
namespace {

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string quotable(const std::string& name) {
  std::string text;
  for (const char letter : name)
    if (letter >= ' ' && letter <= '~' && letter != '"') text += letter;
  return text.substr(0, 60);
}

}  // namespace

std::string simulator_id(const Node& node) {
  return (node.kind == NodeKind::switch_ ? "S-" : "H-") + hex(node.guid);
}

std::string simulator_net(const Fabric& fabric) {
  std::string text;
  for (const Node& node : fabric.nodes()) {
    const bool is_switch = node.kind == NodeKind::switch_;
    text += is_switch ? "switchguid=0x" : "caguid=0x";
    text += hex(node.guid) + "\n" + (is_switch ? "Switch " : "Ca ") + std::to_string(node.port_count) + " \"" +
            simulator_id(node) + "\" # \"" + quotable(node.name) + "\"\n";
    for (std::uint32_t number = 1; number <= node.port_count; ++number) {
      const PortId peer = fabric.peer(node.first_port + number);
      if (peer == none) continue;
      text += "[" + std::to_string(number) + "] \"" + simulator_id(fabric.node(fabric.port(peer).node)) + "\"[" +
              std::to_string(fabric.number_of(peer)) + "]\n";
    }
    text += "\n";
  }
  return text;
}

}  // namespace holdfast::fabric::opensm
