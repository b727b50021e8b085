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

/// Lays routes in closed form by any rule's choices, one destination switch after another, and counts them. `Dealing`
/// is Turns or Shares. Destinations are independent of one another: each thread has one of these, and the sums of their
/// counts do not depend on who laid what.
template <class Dealing>
class ClosedTables {
 public:
  ClosedTables(const SwitchGraph& graph, const Dealing& dealing, Forwarding& tables)
      : graph_(graph), dealing_(dealing), tables_(tables), load_(graph.channels().size()) {}

  /// Routes to the destination's own LID and those of its adapters.
  void lay(const Choices& choices) {
    lay_management(graph_, choices, tables_);
    const std::span<const SwitchGraph::Terminal> adapters = graph_.terminals_at(choices.order[0]);
    if (adapters.empty()) return;
    begin(adapters);
    lay_rows(choices, 1, choices.order.size(), 0, adapters.size());
  }

  /// The same in parts: routes to adapters that follow one another in SwitchGraph::terminals(), of one switch or of
  /// several, begin,
  void begin(std::span<const SwitchGraph::Terminal> adapters) {
    adapters_ = adapters;
    through_.assign(graph_.rows() * adapters.size(), 0);
  }
  /// and go on at the rows at positions `first` to `last` - 1 of the choices, to adapters `from` to `end` - 1 of those.
  /// The farthest switch first: what passes through one is known when its turn comes.
  void lay_rows(const Choices& choices, std::size_t first, std::size_t last, std::size_t from, std::size_t end) {
    const auto number = static_cast<std::uint64_t>(adapters_.data() - graph_.terminals().data()) + from;
    const std::size_t width = adapters_.size();
    const std::span<const SwitchGraph::Terminal> adapters = adapters_.subspan(from, end - from);
    for (std::size_t i = last; i-- > first;) {
      const std::uint32_t row = choices.order[i];
      const std::uint32_t begin_here = graph_.sources_at(row);
      const std::uint32_t* through = through_.data() + row * width + from;
      std::uint8_t* table = tables_.table(row);
      const std::span allowed(choices.arcs.data() + choices.first[i], choices.first[i + 1] - choices.first[i]);
      dealing_.deal(row, allowed, number, adapters.size(),
                    [&](std::size_t begin, std::size_t stop, std::uint32_t channel) {
                      const SwitchGraph::Channel& out = graph_.channels()[channel];
                      std::uint32_t* next = through_.data() + graph_.arc(out.arc).to * width + from;
                      std::uint64_t sum = 0;
                      for (std::size_t at = begin; at < stop; ++at) {
                        const std::uint32_t routes = through[at] + begin_here;
                        table[adapters[at].lid] = out.port;
                        next[at] += routes;
                        sum += routes;
                      }
                      load_[channel] += sum;
                    });
    }
  }

  /// Routes between adapters, by channel.
  const std::vector<std::uint64_t>& load() const { return load_; }

 private:
  const SwitchGraph& graph_;
  const Dealing& dealing_;
  Forwarding& tables_;
  std::vector<std::uint64_t> load_;
  std::span<const SwitchGraph::Terminal> adapters_;
  std::vector<std::uint32_t> through_;  // by row * adapters: routes that pass or begin
};

}  // namespace holdfast::fabric
