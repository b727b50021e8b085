#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// Every arc that a routing rule allows towards one destination switch. Each allowed arc leads to a switch exactly one
/// hop nearer (by this rule's paths), and any combination of choices, one a switch, is a routing that keeps the rule:
/// so whoever balances need not know it.
struct Choices {
  std::vector<std::uint32_t> order;  ///< rows with a route, nearest first; order[0] is the destination
  std::vector<std::uint32_t> first;  ///< arcs[first[i]] to arcs[first[i + 1] - 1] are allowed at order[i]
  std::vector<std::uint32_t> arcs;   ///< ids of SwitchGraph::arcs()
};

/// A total order of the switches: position 0 is the top. A cable leads up towards the smaller position.
struct SwitchOrder {
  std::vector<std::uint32_t> position;  ///< by row
  std::vector<std::uint32_t> rows;      ///< by position
};

/// All shortest paths.
class MinimalRule {
 public:
  explicit MinimalRule(const SwitchGraph& graph) : graph_(&graph) {}
  void choices_to(std::uint32_t destination, Choices& choices);

 private:
  const SwitchGraph* graph_;
  std::vector<std::uint32_t> distance_;
};

/// Shortest paths that first go up and then down (M. Schroeder et al., "Autonet: A High-Speed, Self-Configuring Local
/// Area Network Using Point-to-Point Links", IEEE JSAC 9(8), 1991), made consistent: a switch that others come down
/// into for this destination must itself go down, since its table cannot tell where a packet came from. Switches are
/// taken from the top; each goes down when it must or when that is no longer than going up, and then binds those below
/// it. So no route ever turns from down to up, on any graph, and channels cannot wait in a circle.
class UpDownRule {
 public:
  UpDownRule(const SwitchGraph& graph, const SwitchOrder& order);
  void choices_to(std::uint32_t destination, Choices& choices);

 private:
  struct Step {
    std::uint32_t arc;
    std::uint32_t to;
  };
  std::span<const Step> up(std::uint32_t row) const {
    return {steps_.data() + first_up_[row], first_down_[row] - first_up_[row]};
  }
  std::span<const Step> down(std::uint32_t row) const {
    return {steps_.data() + first_down_[row], first_up_[row + 1] - first_down_[row]};
  }
  void find_down_paths(std::uint32_t destination);
  void settle(std::uint32_t row);

  const SwitchOrder* order_;
  std::vector<Step> steps_;  // of each row those that lead up, then those that lead down
  std::vector<std::uint32_t> first_up_;
  std::vector<std::uint32_t> first_down_;
  std::vector<std::uint32_t> down_;  // length of the shortest path that only goes down
  std::vector<std::uint32_t> hops_;  // of the path chosen
  std::vector<std::uint8_t> goes_down_;
  std::vector<std::uint32_t> queue_;
};

/// A channel for every switch that cables join to the destination but the rule does not: it leads to one that the rule
/// does join, over the fewest hops. Only what such switches send themselves goes there: management packets, which no
/// promise of an engine covers.
std::vector<std::uint32_t> channels_of_rest(const SwitchGraph& graph, const Choices& choices);

/// Hops from the nearest switch that has adapters; `none` when no cables lead to one.
std::vector<std::uint32_t> levels_above_adapters(const SwitchGraph& graph);
/// Hops from the nearest of `rows`; `none` where no cables lead.
std::vector<std::uint32_t> hops_from(const SwitchGraph& graph, const std::vector<std::uint32_t>& rows);

/// Orders by key, then by distance from a switch in the middle of each connected part (the middle of a longest shortest
/// path found by two sweeps), then by row. Without keys every switch but the middle ones has one above it, so up-then-
/// down paths join all switches that cables join.
SwitchOrder order_by(const SwitchGraph& graph, const std::vector<std::uint32_t>& key);

}  // namespace holdfast::fabric
