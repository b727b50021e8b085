#include <algorithm>

#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"

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
bool all_senders_reach(const SwitchGraph& graph, std::uint32_t destination, const Choices& choices,
                       std::vector<std::uint32_t>& hops) {
  if (choices.order.size() == graph.rows() || graph.terminals_at(destination).empty()) return true;
  graph.distances_to(destination, hops);
  for (const std::uint32_t row : choices.order) hops[row] = none;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (hops[row] != none && graph.sources_at(row) != 0) return false;
  }
  return true;
}

/// Routes by this order; false when some switches that cables join are not joined by its paths.
bool route_in_order(const Fabric& fabric, const SwitchGraph& graph, const SwitchOrder& order,
                    const EngineOptions& options, Forwarding& tables) {
  std::vector<std::uint32_t> hops;
  const auto reached = [&](std::uint32_t row, const Choices& choices) {
    return all_senders_reach(graph, row, choices, hops);
  };
  return lay_evenly(fabric, graph, UpDownRule(graph, order), options.threads, reached, tables).has_value();
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

/// Switches from which all others are as near as from anywhere, at most `count` of them, evenly drawn by row. Networks
/// too large to look from everywhere give none.
std::vector<std::uint32_t> central_rows(const SwitchGraph& graph, std::size_t count) {
  constexpr std::uint64_t affordable = 100'000'000;
  if (std::uint64_t{graph.rows()} * graph.arcs().size() > affordable) return {};
  std::vector<std::uint32_t> central;
  std::uint32_t least = none;
  std::vector<std::uint32_t> hops;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    graph.distances_to(row, hops);
    std::uint32_t reach = 0;
    for (const std::uint32_t hop : hops) reach = std::max(reach, hop == none ? graph.rows() : hop);
    if (reach < least) central.clear();
    least = std::min(least, reach);
    if (reach == least) central.push_back(row);
  }
  std::vector<std::uint32_t> drawn;
  for (std::size_t i = 0; i < std::min(count, central.size()); ++i) {
    drawn.push_back(central[i * central.size() / std::min(count, central.size())]);
  }
  return drawn;
}

/// The fullest channel when an even sample of destinations is routed by this order.
std::uint64_t sample_load(const SwitchGraph& graph, const SwitchOrder& order) {
  constexpr std::uint32_t sample = 48;
  UpDownRule rule(graph, order);
  Balance balance(graph);
  Choices choices;
  const std::uint32_t step = std::max(1U, graph.rows() / sample);
  for (std::uint32_t row = 0; row < graph.rows(); row += step) {
    rule.choices_to(row, choices);
    if (!graph.terminals_at(row).empty()) balance.pick(choices);
  }
  return balance.largest_load();
}

/// An order with one switch on top, the one of several in the middle that fills its channels least.
SwitchOrder order_from_best_root(const SwitchGraph& graph) {
  SwitchOrder best = order_by(graph, {});
  std::uint64_t least = sample_load(graph, best);
  for (const std::uint32_t root : central_rows(graph, 8)) {
    SwitchOrder order = order_by(graph, hops_from(graph, {root}));
    const std::uint64_t load = sample_load(graph, order);
    if (load >= least) continue;
    least = load;
    best = std::move(order);
  }
  return best;
}

Result<Forwarding> route_up_down(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options,
                                 bool downwards) {
  bool levels = !options.roots.empty();  // without roots or switches above the adapters there are none to go by
  for (std::uint32_t row = 0; row < graph.rows(); ++row) levels = levels || graph.sources_at(row) == 0;
  Forwarding tables;
  if (levels && route_in_order(fabric, graph, updn_order(graph, options, downwards), options, tables)) return tables;
  // no levels, or several tops that cables join only further down: let one switch be on top
  route_in_order(fabric, graph, order_from_best_root(graph), options, tables);
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
