#include <algorithm>

#include "fabric/routing/balance.h"
#include "fabric/routing/native_engines.h"

namespace holdfast::fabric {
namespace {

std::vector<std::uint32_t> rows_of(const SwitchGraph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (std::find(nodes.begin(), nodes.end(), graph.switch_at(row)) != nodes.end()) rows.push_back(row);
  }
  return rows;
}

/// Whether every switch with adapters has a route; others send only management packets.
bool all_senders_reach(const SwitchGraph& graph, std::uint32_t destination, const Choices& choices,
                       std::vector<std::uint32_t>& hops) {
  if (choices.order.size() == graph.rows()) return true;
  graph.distances_to(destination, hops);
  for (const std::uint32_t row : choices.order) hops[row] = none;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (hops[row] != none && graph.sources_at(row) != 0) return false;
  }
  return true;
}

/// Routes by this order; false when some switches that cables join are not joined by its paths.
bool route_in_order(const SwitchGraph& graph, const SwitchOrder& order, const EngineOptions& options,
                    Forwarding& tables) {
  Balance balance(graph);
  std::vector<std::uint32_t> hops;
  return for_each_destination(
      graph, UpDownRule(graph, order), options.threads, [&](std::uint32_t row, const Choices& choices) {
        if (!all_senders_reach(graph, row, choices, hops)) return false;
        lay_routes(graph, row, choices, balance, tables,
                   [](Balance& by, const Choices& among, bool counts) { by.pick_by_path(among, counts); });
        return true;
      });
}

Result<Forwarding> route_up_down(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options,
                                 bool downwards) {
  Forwarding tables = graph.local_tables(fabric);
  if (route_in_order(graph, updn_order(fabric, graph, options, downwards), options, tables)) return tables;
  tables = graph.local_tables(fabric);  // several tops that cables join only below: let one switch be on top
  route_in_order(graph, order_by(graph, {}), options, tables);
  return tables;
}

}  // namespace

SwitchOrder updn_order(const Fabric&, const SwitchGraph& graph, const EngineOptions& options, bool downwards) {
  const std::vector<std::uint32_t> roots = rows_of(graph, options.roots);
  std::vector<std::uint32_t> key = roots.empty() ? levels_above_adapters(graph) : hops_from(graph, roots);
  if (roots.empty() || downwards) {
    for (std::uint32_t& level : key) level = none - level;
  }
  return order_by(graph, key);
}

Result<Forwarding> route_updn(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return route_up_down(fabric, graph, options, false);
}

Result<Forwarding> route_dnup(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return route_up_down(fabric, graph, options, true);
}

}  // namespace holdfast::fabric
