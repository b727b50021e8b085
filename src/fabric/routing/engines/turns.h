#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/routing/engines/balance.h"

namespace holdfast::fabric {

/// Picks in closed form, by the number of a destination and what lies below a switch: D-mod-K where a tree is complete,
/// and defined wherever there is something to choose from. J. Gliksberg, A. Capra, A. Louvet, P. J. Garcia, D. Sohier,
/// "High-Quality Fault-Resiliency in Fat-Tree Networks", HOTI 2019 (arXiv:2211.11817): Dmodc.
///
/// Destinations are numbered along the leaves (SwitchGraph::terminals() by row, which in a canonical order are
/// neighbours when they share what is above them). A switch takes the arcs that it may choose from in turn, changing
/// after as many destinations as the switches below have dealt out between themselves: its divider, 1 for a leaf, and
/// above it the largest of divider times arcs up of those below. Of parallel channels each gets its turn of the arc's.
///
/// Const access from any number of threads.
class Turns {
 public:
  /// `level`: hops above the leaves, by row; every arc joins neighbouring levels.
  Turns(const SwitchGraph& graph, const std::vector<std::uint32_t>& level);

  std::uint64_t divider(std::uint32_t row) const { return divider_[row]; }

  /// The channel that a switch takes for the destination of this number, out of at least one allowed arc.
  std::uint32_t channel(std::uint32_t row, std::span<const std::uint32_t> arcs, std::uint64_t number) const;

  /// Makes and counts the picks for this destination.
  void pick(const Choices& choices, std::uint64_t number, Balance& balance) const;

 private:
  const SwitchGraph& graph_;
  std::vector<std::uint64_t> divider_;  // by row
};

}  // namespace holdfast::fabric
