#include "fabric/topology/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "fabric/topology/connectivity.h"
#include "fabric/topology/levels.h"

namespace holdfast::fabric {

namespace {

bool below(LinkRate rate, LinkRate able) {
  return rate.lanes < able.lanes || rate.speed < able.speed;
}

std::string end_name(const Fabric& fabric, PortId port) {
  return fabric.node(fabric.port(port).node).name + "/" + std::to_string(fabric.number_of(port));
}

void count_links(const Fabric& fabric, Summary& summary) {
  std::map<std::pair<NodeId, NodeId>, std::uint32_t> parallel;
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const Link& link = fabric.link(id);
    if (!link.up) {
      ++summary.down_links;
      continue;
    }
    ++summary.rates[format(link.rate)];
    if (below(link.rate, fabric.port(link.a).capable) && below(link.rate, fabric.port(link.b).capable))
      summary.slow_links.push_back(id);
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (!fabric.is_switch(a) || !fabric.is_switch(b)) {
      ++summary.host_links;
      continue;
    }
    ++summary.switch_links;
    if (a != b) ++parallel[std::minmax(a, b)];
  }
  for (const auto& [ends, count] : parallel) {
    summary.least_parallel = summary.least_parallel == 0 ? count : std::min(summary.least_parallel, count);
    summary.most_parallel = std::max(summary.most_parallel, count);
  }
}

void count_nodes(const Fabric& fabric, Summary& summary) {
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    const Node& node = fabric.node(id);
    std::uint32_t working = 0;
    std::uint32_t hosts = 0;
    for (std::uint32_t number = 1; number <= node.port_count; ++number) {
      const PortId port = node.first_port + number;
      const PortId peer = fabric.peer(port);
      working += peer == none ? 0 : 1;
      hosts += peer != none && !fabric.is_switch(fabric.port(peer).node) ? 1 : 0;
      summary.free_ports += fabric.is_switch(id) && fabric.port(port).link == none ? 1 : 0;
    }
    if (!fabric.is_switch(id)) {
      summary.lone_adapters += working == 0 ? 1 : 0;
      continue;
    }
    summary.lone_switches += working == 0 ? 1 : 0;
    ++summary.switch_types[fmt::format("{} ports, vendor 0x{:x}, device 0x{:x}", node.port_count, node.vendor_id,
                                       node.device_id)];
    if (hosts == 0) continue;
    summary.least_hosts = summary.host_switches == 0 ? hosts : std::min(summary.least_hosts, hosts);
    summary.most_hosts = std::max(summary.most_hosts, hosts);
    ++summary.host_switches;
  }
}

std::uint32_t count_parts(const Fabric& fabric) {
  std::vector<bool> seen(fabric.nodes().size());
  std::uint32_t parts = 0;
  std::vector<NodeId> queue;
  for (NodeId start = 0; start < fabric.nodes().size(); ++start) {
    if (!fabric.is_switch(start) || seen[start]) continue;
    ++parts;
    queue.assign(1, start);
    seen[start] = true;
    while (!queue.empty()) {
      const Node& node = fabric.node(queue.back());
      queue.pop_back();
      for (std::uint32_t number = 1; number <= node.port_count; ++number) {
        const PortId peer = fabric.peer(node.first_port + number);
        if (peer == none || !fabric.is_switch(fabric.port(peer).node) || seen[fabric.port(peer).node]) continue;
        seen[fabric.port(peer).node] = true;
        queue.push_back(fabric.port(peer).node);
      }
    }
  }
  return parts;
}

void line(std::string& text, std::string_view label, const std::string& value) {
  text += fmt::format("{:<14}{}\n", label, value);
}

std::string counted(const std::map<std::string, std::uint32_t>& counts, std::string_view word) {
  std::string text;
  for (const auto& [what, count] : counts)
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", count, word, what);
  return text.empty() ? "none" : text;
}

}  // namespace

Summary summarize(const Fabric& fabric) {
  constexpr std::uint32_t most_for_diameter = 2500;
  constexpr std::uint32_t most_for_cuts = 600;
  Summary summary;
  summary.switches = fabric.switch_count();
  summary.adapters = fabric.adapter_count();
  summary.hosts = count_hosts(fabric);
  summary.top_lid = fabric.top_lid();
  count_links(fabric, summary);
  count_nodes(fabric, summary);
  summary.parts = count_parts(fabric);
  if (const auto levels = tree_levels(fabric)) {
    summary.levels.emplace();
    for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
      if (!fabric.is_switch(id)) continue;
      if (summary.levels->size() <= (*levels)[id]) summary.levels->resize((*levels)[id] + 1);
      ++(*summary.levels)[(*levels)[id]];
    }
  }
  if (summary.parts == 1 && summary.switches <= most_for_diameter) summary.diameter = diameter(fabric);
  if (summary.parts == 1 && summary.switches > 1 && summary.switches <= most_for_cuts)
    summary.edge_connectivity = edge_connectivity(fabric);
  return summary;
}

std::string summary_text(const Fabric& fabric, const Summary& s) {
  std::string text;
  line(text, "switches", fmt::format("{} ({})", s.switches, counted(s.switch_types, "of")));
  line(text, "hosts",
       fmt::format(
           "{}{} adapters{} on {} switches, {} to {} a switch{}",
           s.hosts.hosts == s.hosts.adapters ? "" : fmt::format("{} with ", s.hosts.hosts),
           s.adapters - s.hosts.aggregation_nodes,
           s.hosts.aggregation_nodes == 0 ? "" : fmt::format(" and {} aggregation nodes", s.hosts.aggregation_nodes),
           s.host_switches, s.least_hosts, s.most_hosts,
           s.lone_adapters > 0 ? fmt::format("; {} without a working link", s.lone_adapters) : ""));
  line(text, "links",
       fmt::format("{} between switches, {} to hosts{}", s.switch_links, s.host_links,
                   s.down_links > 0 ? fmt::format("; {} down", s.down_links) : ""));
  line(text, "rates", counted(s.rates, "at"));
  if (!s.slow_links.empty()) {
    line(text, "slow links", fmt::format("{} below what both ends can do", s.slow_links.size()));
    for (std::size_t i = 0; i < s.slow_links.size() && i < 10; ++i) {
      const Link& link = fabric.link(s.slow_links[i]);
      line(text, "", fmt::format("{} - {} {}", end_name(fabric, link.a), end_name(fabric, link.b), format(link.rate)));
    }
  }
  if (s.most_parallel > 0)
    line(text, "redundancy",
         s.least_parallel == s.most_parallel
             ? fmt::format("{} parallel links between neighbours", s.least_parallel)
             : fmt::format("{} to {} parallel links between neighbours", s.least_parallel, s.most_parallel));
  if (s.levels) {
    std::string counts;
    for (std::uint32_t count : *s.levels) counts += fmt::format("{}{}", counts.empty() ? "" : " + ", count);
    line(text, "shape", fmt::format("tree of {} levels, from the hosts up: {} switches", s.levels->size(), counts));
  }
  if (s.diameter) line(text, "diameter", fmt::format("{} links between switches", *s.diameter));
  if (s.edge_connectivity)
    line(text, "weakest cut", fmt::format("{} links separate some switch from another", *s.edge_connectivity));
  line(text, "parts",
       s.parts == 1 ? "1: every switch reaches every other" : fmt::format("{} that do not reach each other", s.parts));
  line(text, "free ports", fmt::format("{} on switches", s.free_ports));
  line(text, "LIDs", fmt::format("up to {}", s.top_lid));
  return text;
}

void add_summary(nlohmann::ordered_json& record, const Fabric& fabric, const Summary& s) {
  record["switches"] = s.switches;
  record["hosts"] = s.hosts.hosts;
  record["adapters"] = s.adapters;
  record["aggregation_nodes"] = s.hosts.aggregation_nodes;
  record["switch_links"] = s.switch_links;
  record["host_links"] = s.host_links;
  record["down_links"] = s.down_links;
  record["free_ports"] = s.free_ports;
  record["lone_adapters"] = s.lone_adapters;
  record["lone_switches"] = s.lone_switches;
  record["parts"] = s.parts;
  record["hosts_per_switch"] = {{"switches", s.host_switches}, {"least", s.least_hosts}, {"most", s.most_hosts}};
  record["parallel_links"] = {{"least", s.least_parallel}, {"most", s.most_parallel}};
  record["rates"] = s.rates;
  record["switch_types"] = s.switch_types;
  nlohmann::ordered_json slow = nlohmann::ordered_json::array();
  for (LinkId id : s.slow_links) {
    const Link& link = fabric.link(id);
    slow.push_back({{"a", end_name(fabric, link.a)}, {"b", end_name(fabric, link.b)}, {"rate", format(link.rate)}});
  }
  record["slow_links"] = slow;
  if (s.levels) record["levels"] = *s.levels;
  if (s.diameter) record["diameter"] = *s.diameter;
  if (s.edge_connectivity) record["edge_connectivity"] = *s.edge_connectivity;
  record["top_lid"] = s.top_lid;
}

}  // namespace holdfast::fabric
