#include "fabric/compare/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/event/record.h"
#include "fabric/check/cabling.h"
#include "fabric/faults/critical.h"
#include "fabric/routing/engines/reroute.h"

namespace holdfast::fabric {
namespace {

std::string port_text(const Fabric& fabric, PortId port) {
  return fmt::format("{}/{}", fabric.node(fabric.port(port).node).name, fabric.number_of(port));
}
std::string link_text(const Fabric& fabric, LinkId id) {
  return port_text(fabric, fabric.link(id).a) + " - " + port_text(fabric, fabric.link(id).b);
}
bool joins_switches(const Fabric& fabric, const Link& link) {
  return fabric.is_switch(fabric.port(link.a).node) && fabric.is_switch(fabric.port(link.b).node);
}

/// Adapter ports with a LID that do not reach the largest group of those that reach one another.
std::uint64_t count_cut_off(const Cabling& cabling) {
  std::vector<std::uint64_t> by_part(cabling.parts(), 0);
  for (const Cabling::Endpoint& endpoint : cabling.endpoints()) ++by_part[cabling.part(endpoint.row)];
  const auto largest = std::max_element(by_part.begin(), by_part.end());
  const std::uint64_t most = largest == by_part.end() ? 0 : *largest;
  return cabling.endpoints().size() - most + cabling.unplugged();
}

void examine_links(const Fabric& fabric, Health& health) {
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const Link& link = fabric.link(id);
    if (joins_switches(fabric, link)) ++(link.up ? health.links : health.links_down);
    if (!link.up) continue;
    const LinkRate a = fabric.port(link.a).capable;
    const LinkRate b = fabric.port(link.b).capable;
    const LinkRate best = {std::min(a.lanes, b.lanes), std::min(a.speed, b.speed)};
    if (link.rate.lanes >= best.lanes && link.rate.speed >= best.speed) continue;
    health.slow_links.push_back(
        fmt::format("{} came up as {}, its ports can do {}", link_text(fabric, id), format(link.rate), format(best)));
  }
}

/// Links are the same when both ends are the same ports of nodes with the same GUIDs.
using LinkKey = std::pair<std::pair<std::uint64_t, unsigned>, std::pair<std::uint64_t, unsigned>>;
LinkKey key_of(const Fabric& fabric, const Link& link) {
  const auto end = [&](PortId port) {
    return std::pair(fabric.node(fabric.port(port).node).guid, static_cast<unsigned>(fabric.number_of(port)));
  };
  return std::minmax(end(link.a), end(link.b));
}

/// Each port that has a LID of one before it: packets for that LID come to one of them at most.
void find_shared_lids(const Fabric& fabric, Health& health) {
  std::unordered_map<Lid, PortId> holders;
  for (PortId id = 0; id < fabric.ports().size(); ++id) {
    const Port& port = fabric.port(id);
    if (port.lid == 0 || (fabric.is_switch(port.node) && fabric.number_of(id) != 0)) continue;
    PortId other = none;
    Lid shared = 0;
    for (Lid lid = port.lid; lid < port.lid + (1U << port.lmc); ++lid) {
      const auto [holder, fresh] = holders.try_emplace(lid, id);
      if (fresh || other != none) continue;
      other = holder->second;
      shared = lid;
    }
    if (other == none) continue;
    health.shared_lids.push_back(
        fmt::format("LID {} is that of {} and of {}", shared, port_text(fabric, other), port_text(fabric, id)));
  }
}

void find_missing(const Fabric& healthy, const Fabric& fabric, Health& health) {
  std::map<LinkKey, bool> there;
  for (const Link& link : fabric.links()) {
    if (link.up) there.emplace(key_of(fabric, link), true);
  }
  for (LinkId id = 0; id < healthy.links().size(); ++id) {
    const Link& link = healthy.link(id);
    if (link.up && there.count(key_of(healthy, link)) == 0) health.missing.push_back(link_text(healthy, id));
  }
}

/// Working links between the two nodes that this one joins.
std::uint64_t count_parallel(const Fabric& fabric, LinkId id) {
  const auto ends = [&](const Link& link) { return std::minmax({fabric.port(link.a).node, fabric.port(link.b).node}); };
  return static_cast<std::uint64_t>(std::ranges::count_if(
      fabric.links(), [&](const Link& other) { return other.up && ends(other) == ends(fabric.link(id)); }));
}

std::string loss_text(const Fabric& fabric, const LostPair& pair) {
  return fmt::format("{} to LID {}: {} at {}", port_text(fabric, pair.source), pair.destination, name_of(pair.loss),
                     fabric.node(pair.at).name);
}

nlohmann::ordered_json spread_json(const Spread& spread) {
  return {{"min", spread.min}, {"max", spread.max}, {"mean", spread.mean}, {"deviation", spread.deviation}};
}

nlohmann::ordered_json routing_json(const RoutingHealth& routing) {
  nlohmann::ordered_json json;
  if (!routing.engine.empty()) json["engine"] = routing.engine;
  json["routed"] = routing.routed();
  if (!routing.routed()) {
    json["refusal"] = routing.refusal;
    return json;
  }
  json["good"] = routing.good();
  json["lost_pairs"] = routing.lost;
  json["disconnected_pairs"] = routing.disconnected;
  json["switches_lost"] = routing.switches_lost;
  json["credit_loops"] = routing.loops;
  json["lost_pairs_examples"] = routing.losses;
  json["lanes"] = routing.lanes;
  json["mean_hops"] = routing.mean_hops;
  json["pairs_by_hops"] = routing.hops;
  json["edge_forwarding_index"] = spread_json(routing.index);
  json["busiest_links"] = routing.busiest_links;
  json["busiest_switches"] = routing.busiest_switches;
  return json;
}

nlohmann::ordered_json record(std::string_view kind) {
  return event::make_record(kind, 1);
}

void append_list(std::string& text, std::string_view title, const std::vector<std::string>& lines, std::size_t limit) {
  if (lines.empty()) return;
  text += fmt::format("{} ({}):\n", title, lines.size());
  for (std::size_t i = 0; i < std::min(limit, lines.size()); ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > limit) text += fmt::format("  and {} more\n", lines.size() - limit);
}

std::string verdict_of(const RoutingHealth& routing) {
  if (!routing.loops.empty()) return "credit loops";
  return routing.lost != 0 ? "lost pairs" : "good";
}

}  // namespace

bool Health::good() const {
  return hosts_cut_off == 0 && switches_cut_off == 0 && links_down == 0 && slow_links.empty() && missing.empty() &&
         shared_lids.empty() && (!tables || tables->good());
}

RoutingHealth examine_tables(const Fabric& fabric, const Forwarding& tables, unsigned threads) {
  const PathReport paths = check_paths(fabric, tables, threads);
  const CreditLoopReport loops = check_credit_loops(fabric, tables, threads);
  RoutingHealth routing;
  routing.lost = paths.lost_pairs();
  routing.disconnected = paths.disconnected;
  routing.switches_lost = paths.switches_lost;
  routing.lanes = std::max(loops.lanes, 1U);
  routing.mean_hops = paths.mean_hops();
  routing.hops = paths.hops;
  routing.index = paths.index;
  for (const CreditLoop& loop : loops.loops) routing.loops.push_back(describe(fabric, loop));
  for (const LostPair& pair : paths.examples) routing.losses.push_back(loss_text(fabric, pair));
  for (const PortId port : busiest_ports(fabric, paths, 5)) {
    routing.busiest_links.push_back(fmt::format("{} -> {}: {} routes", port_text(fabric, port),
                                                port_text(fabric, fabric.peer(port)), paths.port_routes[port]));
  }
  for (const NodeId node : busiest_switches(tables, paths, 5)) {
    routing.busiest_switches.push_back(
        fmt::format("{}: {} routes", fabric.node(node).name, paths.switch_routes[tables.row_of(node)]));
  }
  return routing;
}

RoutingHealth examine_engine(const Fabric& fabric, std::string_view engine, const EngineOptions& options) {
  const auto tables = route(fabric, engine, options);
  RoutingHealth routing;
  if (tables.ok()) {
    routing = examine_tables(fabric, tables.value(), options.threads);
  } else {
    routing.refusal = tables.status().wrong();
  }
  routing.engine = engine;
  return routing;
}

Health examine(const Fabric& fabric, const HealthOptions& options) {
  const Cabling cabling(fabric);
  Health health;
  health.there = count_hosts(fabric);
  health.hosts = cabling.endpoints().size() + cabling.unplugged();
  health.hosts_cut_off = count_cut_off(cabling);
  health.switches = cabling.rows();
  for (std::uint32_t row = 0; row < cabling.rows(); ++row) {
    bool joined = cabling.rows() == 1;
    for (std::uint32_t port = 0; port < cabling.stride(); ++port) {
      joined = joined || cabling.next_row(cabling.channel(row, static_cast<std::uint8_t>(port))) != none;
    }
    health.switches_cut_off += joined ? 0 : 1;
  }
  examine_links(fabric, health);
  find_shared_lids(fabric, health);
  if (options.healthy != nullptr) find_missing(*options.healthy, fabric, health);
  health.bisection = bound_bisection(fabric);
  if (options.tables != nullptr) health.tables = examine_tables(fabric, *options.tables, options.engine.threads);
  for (const std::string& engine : options.engines) {
    health.outlook.push_back(examine_engine(fabric, engine, options.engine));
  }
  return health;
}

Result<WhatIf> what_if(const Fabric& fabric, const std::vector<LinkId>& links, const WhatIfOptions& options) {
  WhatIf answer;
  answer.given = options.tables != nullptr;
  std::string engine = !options.engine.empty() ? options.engine : "updn";
  std::optional<Forwarding> computed;
  if (!answer.given) {
    auto routed = route(fabric, engine, options.routing);
    if (!routed.ok()) return routed.status();
    computed = std::move(routed).value();
  }
  const Forwarding& tables = answer.given ? *options.tables : *computed;
  answer.before = examine_tables(fabric, tables, options.routing.threads);
  if (answer.given && options.engine.empty()) engine = answer.before.loops.empty() ? "dfsssp" : "minhop";
  if (!answer.given) answer.before.engine = engine;

  Fabric degraded = fabric;
  for (const LinkId link : links) {
    (fabric.link(link).up ? answer.links : answer.down_already).push_back(link_text(fabric, link));
    degraded.set_link_up(link, false);
  }
  for (const NodeId host : Criticality(fabric).loss_without(links).hosts)
    answer.hosts_lost.push_back(fabric.node(host).name);
  answer.parallel_left = links.empty() ? 0 : count_parallel(degraded, links.front());
  answer.routes_cut = count_unrouted(degraded, tables) - count_unrouted(fabric, tables);
  const auto mended = reroute(degraded, tables, engine, options.routing);
  if (mended.ok()) {
    answer.after = examine_tables(degraded, mended.value().tables, options.routing.threads);
    answer.changes = compare_tables(degraded, tables, mended.value().tables);
    answer.anew = mended.value().anew;
  } else {
    answer.after.refusal = mended.status().wrong();
  }
  answer.after.engine = engine;
  return answer;
}

std::string routing_text(const RoutingHealth& routing) {
  if (!routing.routed()) return fmt::format("{}: {}\n", routing.engine, routing.refusal);
  std::string text;
  text += fmt::format("lost pairs                {}\n", routing.lost);
  if (routing.disconnected != 0) text += fmt::format("pairs without any cable   {}\n", routing.disconnected);
  if (routing.switches_lost != 0) text += fmt::format("switches not managed from {} hosts\n", routing.switches_lost);
  text += fmt::format("credit loops              {}\n", routing.loops.empty() ? "none" : "found");
  text += fmt::format("virtual lanes             {}\n", routing.lanes);
  text += fmt::format("links on a path           {:.3f} on average, {} at most\n", routing.mean_hops,
                      routing.hops.empty() ? 0 : routing.hops.size() - 1);
  text += fmt::format("routes over a link        {} at most, {:.1f} on average, {} at least, deviation {:.1f}\n",
                      routing.index.max, routing.index.mean, routing.index.min, routing.index.deviation);
  append_list(text, "Credit loops", routing.loops, 4);
  append_list(text, "Lost pairs, some of them", routing.losses, 4);
  append_list(text, "Fullest links", routing.busiest_links, 5);
  append_list(text, "Fullest switches", routing.busiest_switches, 5);
  return text;
}

/// "300 with 302 ports of 301 adapters, 2 ports cut off; aggregation nodes: 12"
std::string hosts_text(const Health& health) {
  const HostCount& there = health.there;
  std::string text = std::to_string(there.hosts);
  if (there.hosts != there.adapters || there.adapters != there.ports)
    text += fmt::format(" with {} ports of {} adapters", there.ports, there.adapters);
  text += fmt::format(", {} {}cut off", health.hosts_cut_off, there.hosts == health.hosts ? "" : "ports ");
  if (there.aggregation_nodes != 0) text += fmt::format("; aggregation nodes: {}", there.aggregation_nodes);
  return text;
}

std::string health_text(const Health& health) {
  std::string text = health.good() ? "The fabric is in order.\n\n" : "The fabric needs attention.\n\n";
  text += fmt::format("hosts      {}\n", hosts_text(health));
  text += fmt::format("switches   {}, {} cut off\n", health.switches, health.switches_cut_off);
  text += fmt::format("links      {} between switches work, {} are dead\n", health.links, health.links_down);
  text += fmt::format("bisection  {} to {} links\n", health.bisection.lower, health.bisection.upper);
  append_list(text, "\nLIDs that two ports have: give each its own, restart the subnet manager without its old LIDs",
              health.shared_lids, 10);
  append_list(text, "\nLinks that came up slower or narrower than they can", health.slow_links, 10);
  append_list(text, "\nMissing against the healthy fabric", health.missing, 10);
  if (health.tables) text += "\nToday's tables: " + verdict_of(*health.tables) + "\n" + routing_text(*health.tables);
  if (health.outlook.empty()) return text;
  text += fmt::format("\n{:<11} {:<13} {:>5} {:>9} {:>12} {:>10}\n", "engine", "verdict", "lanes", "mean path",
                      "fullest link", "deviation");
  for (const RoutingHealth& routing : health.outlook) {
    if (!routing.routed()) {
      text += fmt::format("{:<11} {}\n", routing.engine, routing.refusal);
      continue;
    }
    text += fmt::format("{:<11} {:<13} {:>5} {:>9.3f} {:>12} {:>10.1f}\n", routing.engine, verdict_of(routing),
                        routing.lanes, routing.mean_hops, routing.index.max, routing.index.deviation);
  }
  return text;
}

nlohmann::ordered_json health_record(const Health& health) {
  nlohmann::ordered_json json = record("holdfast.fabric.check");
  json["good"] = health.good();
  json["hosts"] = health.there.hosts;
  json["adapters"] = health.there.adapters;
  json["aggregation_nodes"] = health.there.aggregation_nodes;
  json["host_ports"] = health.hosts;
  json["hosts_cut_off"] = health.hosts_cut_off;
  json["switches"] = health.switches;
  json["switches_cut_off"] = health.switches_cut_off;
  json["links"] = health.links;
  json["links_down"] = health.links_down;
  json["shared_lids"] = health.shared_lids;
  json["slow_links"] = health.slow_links;
  json["missing_links"] = health.missing;
  json["bisection"] = {{"lower", health.bisection.lower}, {"upper", health.bisection.upper}};
  if (health.tables) json["tables"] = routing_json(*health.tables);
  json["engines"] = nlohmann::ordered_json::array();
  for (const RoutingHealth& routing : health.outlook) json["engines"].push_back(routing_json(routing));
  return json;
}

std::string what_if_text(const WhatIf& answer) {
  std::string text = answer.allowed()    ? "yes: isolating it is not critical, and what is left is routed\n\n"
                     : answer.critical() ? "no: isolating it is critical, hosts would be lost\n\n"
                                         : "no: hosts stay connected, but what is left is not routed well\n\n";
  for (const std::string& link : answer.links) text += fmt::format("link                      {}\n", link);
  for (const std::string& link : answer.down_already)
    text += fmt::format("link                      {}, down already\n", link);
  text += fmt::format("parallel links left       {}\n", answer.parallel_left);
  append_list(text, "hosts lost", answer.hosts_lost, 20);
  text += fmt::format("routes cut until mended   {}\n", answer.routes_cut);
  text += fmt::format("tables                    {}, mended by {}{}\n",
                      answer.given ? "as given" : "by " + answer.before.engine, answer.after.engine,
                      answer.after.routed() ? "" : ", which refuses: " + answer.after.refusal);
  if (!answer.after.routed()) return text;
  text += fmt::format("entries changed           {} of {}{}\n", answer.changes.changed, answer.changes.entries,
                      answer.anew ? ", everything routed anew" : "");
  text += fmt::format("lost pairs                {} before, {} after\n", answer.before.lost, answer.after.lost);
  text += fmt::format("credit loops              {} before, {} after\n", answer.before.loops.empty() ? "none" : "found",
                      answer.after.loops.empty() ? "none" : "found");
  text +=
      fmt::format("routes over fullest link  {} before, {} after\n", answer.before.index.max, answer.after.index.max);
  text += fmt::format("links on a path           {:.3f} before, {:.3f} after\n", answer.before.mean_hops,
                      answer.after.mean_hops);
  append_list(text, "Credit loops afterwards", answer.after.loops, 4);
  return text;
}

nlohmann::ordered_json what_if_record(const WhatIf& answer) {
  nlohmann::ordered_json json = record("holdfast.fabric.what-if");
  json["links"] = answer.links;
  json["down_already"] = answer.down_already;
  json["allowed"] = answer.allowed();
  json["critical"] = answer.critical();
  json["parallel_links_left"] = answer.parallel_left;
  json["hosts_lost"] = answer.hosts_lost;
  json["routes_cut"] = answer.routes_cut;
  json["tables_given"] = answer.given;
  json["entries"] = answer.changes.entries;
  json["entries_changed"] = answer.changes.changed;
  json["routed_anew"] = answer.anew;
  json["before"] = routing_json(answer.before);
  json["after"] = routing_json(answer.after);
  return json;
}

nlohmann::ordered_json routing_record(const RoutingHealth& routing) {
  nlohmann::ordered_json json = record("holdfast.fabric.route");
  json.update(routing_json(routing));
  return json;
}

}  // namespace holdfast::fabric
