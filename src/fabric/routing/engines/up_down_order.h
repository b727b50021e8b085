#pragma once

#include "fabric/routing/graph/choices.h"

namespace holdfast::fabric {

/// Switches by a depth-first search from `root`, which goes on to the neighbour with the most cables to switches that
/// are in the order already; what cables do not join to it follows likewise. J. Sancho, A. Robles, J. Duato, "An
/// Effective Methodology to Improve the Performance of the Up*/Down* Routing Algorithm", IEEE TPDS 15(8), 2004. Every
/// switch but the first of each part has one above it.
SwitchOrder depth_first_order(const SwitchGraph& graph, std::uint32_t root);

/// Cables on the longest way that only goes up. Packets that wait for one another stand in a chain of at most twice
/// that length.
std::uint32_t longest_way_up(const SwitchGraph& graph, const SwitchOrder& order);

/// What is judged of an order: the sum of the sixth powers of the arcs' loads a cable, under greedy picks of paths up
/// and down to an even sample of the destinations, times the square of its longest way up. Of the loads little else
/// than the fullest cables counts. Long ways up are long chains of packets that wait, which is what full load makes of
/// depth-first orders (docs/results/fail-in-place.md).
double up_down_cost(const SwitchGraph& graph, const SwitchOrder& order);

/// The same of tables that are laid, by which the channels carry so many routes each.
double up_down_cost(const SwitchGraph& graph, const SwitchOrder& order, const std::vector<std::uint64_t>& loads);

/// Orders for paths up and down on a network without levels. `drawn` is the cheapest of breadth-first and depth-first
/// orders from roots that are drawn evenly; `searched` comes from it by moving one switch at a time to another place,
/// where that costs no more and leaves above each switch some other, but for the tops of `drawn`. So under both, paths
/// join what cables join. Which moves are tried, and how many, follows from the graph alone: at most a third of a
/// second on 40 switches, fewer of them on larger networks.
struct UpDownOrders {
  SwitchOrder drawn;
  SwitchOrder searched;
};
UpDownOrders search_up_down_orders(const SwitchGraph& graph);

/// Up to twelve more, searched likewise from breadth-first orders in which lots are drawn for switches equally far from
/// the root. What tables make of an order is not quite what it is judged by, and another start ends elsewhere; so these
/// are to be laid, each, and the best taken. Those of a graph are the same by any number of threads. CPU time: a tenth
/// of a second on 25 switches, half a second on 40; fewer orders on larger networks, and none on those of hundreds.
std::vector<SwitchOrder> further_up_down_orders(const SwitchGraph& graph, unsigned threads);

}  // namespace holdfast::fabric
