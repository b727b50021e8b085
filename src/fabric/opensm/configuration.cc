#include "fabric/opensm/configuration.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <queue>

namespace holdfast::fabric::opensm {
namespace {

std::string hex(std::uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

/// OpenSM's code for the largest number of data lanes.
int code_of_lanes(std::uint8_t lanes) {
  for (int code = 1; code < 5; ++code)
    if (lanes <= 1 << (code - 1)) return code;
  return 5;
}

/// Hops along working links from the nearest of the starts to each switch; `none` where no way leads.
std::vector<std::uint32_t> hops_from(const Fabric& fabric, const std::vector<NodeId>& starts) {
  std::vector<std::uint32_t> hops(fabric.nodes().size(), none);
  std::queue<NodeId> reached;
  for (const NodeId start : starts) {
    hops[start] = 0;
    reached.push(start);
  }
  for (; !reached.empty(); reached.pop()) {
    const Node& node = fabric.node(reached.front());
    for (std::uint32_t number = 1; number <= node.port_count; ++number) {
      const PortId peer = fabric.peer(node.first_port + number);
      if (peer == none) continue;
      const NodeId next = fabric.port(peer).node;
      if (!fabric.is_switch(next) || hops[next] != none) continue;
      hops[next] = hops[reached.front()] + 1;
      reached.push(next);
    }
  }
  return hops;
}

std::vector<NodeId> switches_with_adapters(const Fabric& fabric) {
  std::vector<bool> found(fabric.nodes().size());
  for (const Link& link : fabric.links()) {
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (link.up && fabric.is_switch(a) != fabric.is_switch(b)) found[fabric.is_switch(a) ? a : b] = true;
  }
  std::vector<NodeId> switches;
  for (NodeId node = 0; node < found.size(); ++node)
    if (found[node]) switches.push_back(node);
  return switches;
}

NodeId middle_switch(const Fabric& fabric) {
  NodeId best = none;
  std::uint64_t least = 0;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) continue;
    std::uint64_t sum = 0;
    for (const std::uint32_t hops : hops_from(fabric, {node}))
      if (hops != none) sum += hops;
    if (best == none || sum < least) {
      best = node;
      least = sum;
    }
  }
  return best;
}

}  // namespace

std::string configuration(const Request& request, const std::string& folder, std::uint8_t lmc) {
  const bool lane_maps = request.lane_maps.value_or(request.engine == "torus-2QoS" || request.engine == "nue");
  std::string text;
  auto set = [&text](const std::string& option, const std::string& value) { text += option + " " + value + "\n"; };
  set("routing_engine", request.engine + ",no_fallback");
  set("event_plugin_name", "holdfast-opensm-tap");
  set("log_file", folder + "/opensm.log");
  set("dump_files_dir", folder + "/");
  set("log_flags", "0x03");
  set("force_log_flush", "TRUE");
  set("honor_guid2lid_file", "TRUE");
  set("lmc", std::to_string(lmc));
  set("fsync_high_avail_files", "FALSE");
  set("max_op_vls", std::to_string(code_of_lanes(request.lanes)));
  set("nue_max_num_vls", std::to_string(request.lanes));
  set("disable_multicast", "TRUE");
  set("sweep_interval", "0");     // one sweep at a time, when we say so
  set("sweep_on_trap", "FALSE");  // likewise
  set("max_wire_smps", "64");     // MADs under way; ibsim loses none
  set("max_wire_smps2", "64");
  set("transaction_timeout", "10000");  // ms: on a loaded machine ibsim may be slow, never lossy
  set("use_ucast_cache", "FALSE");
  if (lane_maps) {
    set("qos", "TRUE");
    set("qos_max_vls", std::to_string(request.lanes));
    set("qos_high_limit", "0");
    set("qos_sl2vl", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
  }
  if (!request.roots.empty()) set("root_guid_file", folder + "/roots");
  if (request.engine == "torus-2QoS") set("torus_config", folder + "/torus-2QoS.conf");
  return text;
}

Result<std::uint8_t> lmc_of_all(const Fabric& fabric) {
  std::optional<std::uint8_t> all;
  const auto refusal = [](const std::string& wrong) {
    return Status(Code::bad_input, "starting OpenSM", wrong, "use an engine of ours");
  };
  for (const Port& port : fabric.ports()) {
    if (port.lid == 0) continue;
    if (fabric.is_switch(port.node)) {
      if (port.lmc != 0)
        return refusal("switch '" + fabric.node(port.node).name + "' has LMC " + std::to_string(port.lmc) +
                       ", ibsim's switches have 0");
    } else if (port.link != none) {
      if (all.value_or(port.lmc) != port.lmc)
        return refusal("adapters have LMC " + std::to_string(*all) + " and " + std::to_string(port.lmc) +
                       ", it gives all the same");
      all = port.lmc;
    }
  }
  return all.value_or(std::uint8_t{0});
}

std::string lid_table(const Fabric& fabric) {
  std::string text;
  for (const Node& node : fabric.nodes()) {
    const bool is_switch = node.kind == NodeKind::switch_;
    for (std::uint32_t number = is_switch ? 0 : 1; number <= (is_switch ? 0U : node.port_count); ++number) {
      const Port& port = fabric.port(node.first_port + number);
      if (port.lid == 0) continue;
      text += hex(node.guid + number, 16) + " " + hex(port.lid, 4) + " " + hex(port.lid + (Lid{1} << port.lmc) - 1, 4) +
              "\n\n";  // an empty line ends an entry
    }
  }
  return text;
}

std::vector<NodeId> farthest_from_adapters(const Fabric& fabric) {
  const std::vector<std::uint32_t> level = hops_from(fabric, switches_with_adapters(fabric));
  std::uint32_t top = 0;
  for (const std::uint32_t hops : level)
    if (hops != none) top = std::max(top, hops);
  std::vector<NodeId> roots;
  for (NodeId node = 0; top != 0 && node < level.size(); ++node)
    if (level[node] == top && fabric.is_switch(node)) roots.push_back(node);
  return roots;
}

std::vector<NodeId> choose_roots(const Fabric& fabric) {
  std::vector<NodeId> roots = farthest_from_adapters(fabric);
  if (!roots.empty()) return roots;
  const NodeId middle = middle_switch(fabric);
  return middle == none ? std::vector<NodeId>() : std::vector<NodeId>{middle};
}

std::vector<NodeId> roots_for(std::string_view engine, const Fabric& fabric) {
  if (engine == "updn" || engine == "dnup") return choose_roots(fabric);
  // without switches above the adapters a fabric is no fat tree, whatever is called its root
  return engine == "ftree" ? farthest_from_adapters(fabric) : std::vector<NodeId>();
}

Status check_one_subnet(const Fabric& fabric) {
  std::vector<std::uint8_t> seen(fabric.nodes().size(), 0);
  std::size_t subnets = 0;
  for (NodeId start = 0; start < fabric.nodes().size(); ++start) {
    if (!fabric.is_switch(start) || seen[start] != 0) continue;
    seen[start] = 1;
    std::vector<NodeId> switches = {start};
    std::size_t adapter_ports = 0;
    for (std::size_t head = 0; head < switches.size(); ++head) {
      const Node& node = fabric.node(switches[head]);
      for (std::uint32_t number = 1; number <= node.port_count; ++number) {
        const LinkId id = fabric.port(node.first_port + number).link;
        if (id == none) continue;
        const Link& link = fabric.link(id);
        const NodeId far = fabric.port(link.a == node.first_port + number ? link.b : link.a).node;
        if (!fabric.is_switch(far)) {
          ++adapter_ports;
        } else if (seen[far] == 0) {
          seen[far] = 1;
          switches.push_back(far);
        }
      }
    }
    subnets += adapter_ports > 1 ? 1 : 0;
  }
  if (subnets <= 1) return {};
  return {Code::bad_input, "starting OpenSM",
          "it routes the subnet that it runs in, and there are " + std::to_string(subnets) + " that no cable joins",
          "give it a file of each, or use an engine of ours"};
}

}  // namespace holdfast::fabric::opensm
