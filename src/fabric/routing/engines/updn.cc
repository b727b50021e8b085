#include <algorithm>

#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/up_down_order.h"

namespace holdfast::fabric {
namespace {

std::vector<std::uint32_t> rows_of(const SwitchGraph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (std::find(nodes.begin(), nodes.end(), graph.switch_at(row)) != nodes.end()) rows.push_back(row);
  }
  return rows;
}

/// Whether every switch with adapters has a route to one with adapters. Others only deal in management packets.
bool all_senders_reach(const SwitchGraph& graph, std::uint32_t destination, const Choices& choices) {
  if (choices.order.size() == graph.rows() || graph.terminals_at(destination).empty()) return true;
  std::vector<std::uint32_t> hops;
  graph.distances_to(destination, hops);
  for (const std::uint32_t row : choices.order) hops[row] = none;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (hops[row] != none && graph.sources_at(row) != 0) return false;
  }
  return true;
}

/// Routes by this order, and how many of them the fullest link carries; nothing when some switches that cables join
/// are not joined by its paths.
std::optional<std::uint64_t> route_in_order(const Fabric& fabric, const SwitchGraph& graph, const SwitchOrder& order,
                                            const EngineOptions& options, Forwarding& tables) {
  const auto reached = [&](std::uint32_t row, const Choices& choices) {
    return all_senders_reach(graph, row, choices);
  };
  return lay_evenly(fabric, graph, UpDownRule(graph, order), options.threads, reached, tables);
}

/// By levels: hops from the roots given, or from the adapters.
SwitchOrder updn_order(const SwitchGraph& graph, const EngineOptions& options, bool downwards) {
  const std::vector<std::uint32_t> roots = rows_of(graph, options.roots);
  std::vector<std::uint32_t> key = roots.empty() ? levels_above_adapters(graph) : hops_from(graph, roots);
  if (roots.empty() || downwards) {
    for (std::uint32_t& level : key) level = none - level;
  }
  return order_by(graph, key);
}

Result<Forwarding> route_up_down(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options,
                                 bool downwards) {
  bool levels = !options.roots.empty();  // without roots or switches above the adapters there are none to go by
  for (std::uint32_t row = 0; row < graph.rows(); ++row) levels = levels || graph.sources_at(row) == 0;
  Forwarding tables;
  std::optional<double> least;
  const auto route_better = [&](const SwitchOrder& order) {
    Forwarding others;
    const std::optional<std::uint64_t> fullest = route_in_order(fabric, graph, order, options, others);
    if (!fullest) return;
    const double cost = up_down_cost(graph, order, *fullest);
    if (least && cost >= *least) return;
    least = cost;
    tables = std::move(others);
  };
  const bool large = affordable_passes(graph) == 0;
  if (levels) route_better(updn_order(graph, options, downwards));
  if (least && options.roots.empty() && lies_in_levels(graph)) {
    tables.know_up_down(levels_above_adapters(graph));
    return tables;
  }
  if (least && (large || !options.roots.empty())) return tables;
  // no levels, those of a network that is no tree, or several tops that cables join only further down: let one switch
  // be on top
  const UpDownOrders orders = search_up_down_orders(graph);
  route_better(orders.searched);
  if (!large && orders.drawn.rows != orders.searched.rows) route_better(orders.drawn);
  return tables;
}

}  // namespace

Result<Forwarding> route_updn(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return route_up_down(fabric, graph, options, false);
}

Result<Forwarding> route_dnup(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return route_up_down(fabric, graph, options, true);
}

}  // namespace holdfast::fabric
