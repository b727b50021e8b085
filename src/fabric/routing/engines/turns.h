#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/routing/engines/balance.h"

namespace holdfast::fabric {

/// Of the parallel channels of an arc, the one whose turn it is.
inline std::uint32_t channel_in_turn(const SwitchGraph::Arc& arc, std::uint64_t round) {
  return arc.first_channel + (arc.channels == 1 ? 0 : static_cast<std::uint32_t>(round % arc.channels));
}

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

  /// Calls use(first, last, channel) for the destinations from `number` on, `count` of them: those from first to last -
  /// 1, counted from 0, take this channel out of at least one allowed arc.
  template <class Use>
  void deal(std::uint32_t row, std::span<const std::uint32_t> arcs, std::uint64_t number, std::size_t count,
            const Use& use) const {
    const std::uint64_t divider = divider_[row];
    const std::uint64_t turn = number / divider;
    std::uint64_t until_next = divider - number % divider;
    std::size_t choice = turn % arcs.size();
    std::uint64_t round = turn / arcs.size();
    for (std::size_t first = 0; first < count;) {  // counters in place of divisions
      const std::size_t last = first + std::min<std::uint64_t>(until_next, count - first);
      use(first, last, channel_of(arcs[choice], round));
      first = last;
      until_next = divider;
      if (++choice == arcs.size()) {
        choice = 0;
        ++round;
      }
    }
  }

  /// Of the parallel channels of an arc, the one whose turn it is.
  std::uint32_t channel_of(std::uint32_t arc, std::uint64_t round) const {
    return channel_in_turn(graph_.arc(arc), round);
  }

 private:
  const SwitchGraph& graph_;
  std::vector<std::uint64_t> divider_;  // by row
};

/// Routes that carry no traffic between adapters: to the destination switch's own LID, dealt in turn, and those of the
/// switches that the rule does not join.
void lay_management(const SwitchGraph& graph, const Choices& choices, Forwarding& tables);

/// Lays routes in closed form by any rule's choices, one destination switch after another, and counts them.
/// Destinations are independent of one another: each thread has one of these, and the sums of their counts do not
/// depend on who laid what.
class TurnTables {
 public:
  TurnTables(const SwitchGraph& graph, const Turns& turns, Forwarding& tables)
      : graph_(graph), turns_(turns), tables_(tables), load_(graph.channels().size()) {}

  /// Routes to the destination's own LID and those of its adapters.
  void lay(const Choices& choices);

  /// Routes between adapters, by channel.
  const std::vector<std::uint64_t>& load() const { return load_; }

 private:
  const SwitchGraph& graph_;
  const Turns& turns_;
  Forwarding& tables_;
  std::vector<std::uint64_t> load_;
  std::vector<std::uint32_t> through_;  // by row * adapters of the destination: routes that pass or begin
};

}  // namespace holdfast::fabric
