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

struct Laid {
  SwitchOrder order;
  Forwarding tables;
  std::uint64_t fullest = 0;     // channel: routes on it
  std::uint32_t longest_up = 0;  // way, of the order
  double cost = 0;
};

/// Routes by this order; nothing when some switches that cables join are not joined by its paths.
std::optional<Laid> lay_in_order(const Fabric& fabric, const SwitchGraph& graph, const SwitchOrder& order,
                                 const EngineOptions& options) {
  const auto reached = [&](std::uint32_t row, const Choices& choices) {
    return all_senders_reach(graph, row, choices);
  };
  Laid laid;
  laid.order = order;
  const auto loads = lay_evenly(fabric, graph, UpDownRule(graph, order), options.threads, reached, laid.tables);
  if (!loads) return std::nullopt;
  if (!loads->empty()) laid.fullest = *std::max_element(loads->begin(), loads->end());
  laid.longest_up = longest_way_up(graph, order);
  laid.cost = up_down_cost(graph, order, *loads);
  return laid;
}

/// Whether tables of another search may take the place of these if they cost less: no link is fuller than their
/// fullest, and chains of packets that wait are hardly longer. Fuller links for shorter chains, and the reverse,
/// carried less under some traffic in simulations (docs/results/fail-in-place.md).
bool replaces(const Laid& other, const Laid& these) {
  return other.fullest <= these.fullest && other.longest_up <= these.longest_up + these.longest_up / 8;
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
  std::optional<Laid> best;
  /// Whether the tables of this order are the best so far.
  const auto keep = [&](std::optional<Laid> other) {
    if (!other || (best && other->cost >= best->cost)) return false;
    best = std::move(other);
    return true;
  };
  const auto lay = [&](const SwitchOrder& order) { return lay_in_order(fabric, graph, order, options); };
  const bool large = affordable_passes(graph) == 0;
  if (levels) keep(lay(updn_order(graph, options, downwards)));
  if (best && options.roots.empty() && lies_in_levels(graph)) {
    best->tables.know_up_down(levels_above_adapters(graph));
    return std::move(best->tables);
  }
  if (best && (large || !options.roots.empty())) return std::move(best->tables);
  // no levels, those of a network that is no tree, or several tops that cables join only further down: let one switch
  // be on top
  const UpDownOrders orders = search_up_down_orders(graph);
  bool better = keep(lay(orders.searched));
  if (!large && orders.drawn.rows != orders.searched.rows) better = keep(lay(orders.drawn)) || better;
  if (better && !large) {
    for (const SwitchOrder& order : further_up_down_orders(graph, options.threads)) {
      std::optional<Laid> other = lay(order);
      if (other && replaces(*other, *best)) keep(std::move(other));
    }
  }
  if (!best) return Forwarding();
  if (!large) {
    constexpr unsigned rounds = 8;
    const std::vector<Choices> known = choices_to_all(graph, UpDownRule(graph, best->order), options.threads);
    relieve_fullest(graph, rounds, known, best->tables);
  }
  return std::move(best->tables);
}

}  // namespace

Result<Forwarding> route_updn(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return route_up_down(fabric, graph, options, false);
}

Result<Forwarding> route_dnup(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return route_up_down(fabric, graph, options, true);
}

}  // namespace holdfast::fabric
