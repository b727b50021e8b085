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

  /// Calls use(first, last, choice, round) for the destinations from `number` on, `count` of them: those from first to
  /// last - 1, counted from 0, take the arc arcs[choice], out of at least one, and of its channels the one whose turn
  /// it is in this round.
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
      use(first, last, choice, round);
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
/// switches that the rule does not join. One to a thread. Some destinations are entered together, so that a table is
/// looked at once for all of them.
class ManagementRoutes {
 public:
  ManagementRoutes(const SwitchGraph& graph, Forwarding& tables) : graph_(graph), tables_(tables) {}
  /// The last ones laid are in the tables after enter() only.
  void lay(const Choices& choices);
  void enter();

 private:
  static constexpr std::size_t together = 8;

  const SwitchGraph& graph_;
  Forwarding& tables_;
  std::vector<Lid> lids_;            // that are laid and not entered
  std::vector<std::uint8_t> ports_;  // by row * together: theirs
};

/// Lays routes in closed form by any rule's choices, one destination switch after another, and counts them. `Dealing`
/// is Turns or Shares. Destinations are independent of one another: each thread has one of these, and the sums of their
/// counts do not depend on who laid what. enter() ends a piece of work: the tables have all routes after it.
template <class Dealing>
class ClosedTables {
 public:
  ClosedTables(const SwitchGraph& graph, const Dealing& dealing, Forwarding& tables)
      : graph_(graph), dealing_(dealing), tables_(tables), management_(graph, tables), load_(graph.channels().size()) {}

  /// Routes to the destination's own LID and those of its adapters.
  void lay(const Choices& choices) {
    management_.lay(choices);
    const std::span<const SwitchGraph::Terminal> adapters = graph_.terminals_at(choices.order[0]);
    if (adapters.empty()) return;
    begin(adapters);
    lay_rows(choices, 1, choices.order.size(), 0, adapters.size());
  }
  void lay_management(const Choices& choices) { management_.lay(choices); }
  void enter() { management_.enter(); }

  /// The same in parts: routes to adapters that follow one another in SwitchGraph::terminals(), of one switch or of
  /// several, begin,
  void begin(std::span<const SwitchGraph::Terminal> adapters) { begin(adapters, {}, graph_.rows()); }
  /// The counts of what passes through the rows may lie at these places, by row, of which there are `places`: two rows
  /// may share one when all routes of the first are laid before any lead to the second. Empty: each row has its own.
  void begin(std::span<const SwitchGraph::Terminal> adapters, std::span<const std::uint32_t> place,
             std::size_t places) {
    adapters_ = adapters;
    place_ = place;
    if (through_.size() < places * adapters.size()) through_.resize(places * adapters.size(), 0);
  }
  /// and go on at the rows at positions `first` to `last` - 1 of the choices, to adapters `from` to `end` - 1 of those.
  /// The farthest switch first: what passes through one is known when its turn comes. Those from position 1 on come
  /// last.
  void lay_rows(const Choices& choices, std::size_t first, std::size_t last, std::size_t from, std::size_t end) {
    const auto number = static_cast<std::uint64_t>(adapters_.data() - graph_.terminals().data()) + from;
    const std::span<const SwitchGraph::Terminal> adapters = adapters_.subspan(from, end - from);
    for (std::size_t i = last; i-- > first;) {
      const std::uint32_t row = choices.order[i];
      const std::uint32_t begin_here = graph_.sources_at(row);
      std::uint32_t* through = counts_of(row) + from;
      std::uint8_t* table = tables_.table(row);
      const std::span allowed(choices.arcs.data() + choices.first[i], choices.first[i + 1] - choices.first[i]);
      outs_.clear();
      for (const std::uint32_t id : allowed) {
        const SwitchGraph::Arc& arc = graph_.arc(id);
        outs_.push_back({counts_of(arc.to) + from, load_.data() + arc.first_channel, graph_.only_port(id)});
      }
      dealing_.deal(row, allowed, number, adapters.size(),
                    [&](std::size_t begin, std::size_t stop, std::size_t choice, std::uint64_t round) {
                      Out out = outs_[choice];
                      if (out.port == 0) {
                        const std::uint32_t channel = channel_in_turn(graph_.arc(allowed[choice]), round);
                        out.load = load_.data() + channel;
                        out.port = graph_.channels()[channel].port;
                      }
                      std::uint64_t sum = 0;
                      for (std::size_t at = begin; at < stop; ++at) {
                        const std::uint32_t routes = through[at] + begin_here;
                        out.next[at] += routes;
                        sum += routes;
                      }
                      *out.load += sum;
                      for (std::size_t at = begin; at < stop; ++at) table[adapters[at].lid] = out.port;
                    });
      std::fill_n(through, adapters.size(), 0);
    }
    if (first == 1) std::fill_n(counts_of(choices.order[0]) + from, adapters.size(), 0);
  }

  /// Routes between adapters, by channel.
  const std::vector<std::uint64_t>& load() const { return load_; }

 private:
  /// An arc that a row may choose.
  struct Out {
    std::uint32_t* next;  ///< what passes through the row that it leads to
    std::uint64_t* load;  ///< of its channel
    std::uint8_t port;    ///< 0: one of several channels, another one in each round
  };

  std::uint32_t* counts_of(std::uint32_t row) {
    return through_.data() + (place_.empty() ? row : place_[row]) * adapters_.size();
  }

  const SwitchGraph& graph_;
  const Dealing& dealing_;
  Forwarding& tables_;
  ManagementRoutes management_;
  std::vector<std::uint64_t> load_;
  std::span<const SwitchGraph::Terminal> adapters_;
  std::span<const std::uint32_t> place_;  // by row
  std::vector<std::uint32_t> through_;    // by place * adapters: routes that pass; 0 but while they are laid
  std::vector<Out> outs_;
};

}  // namespace holdfast::fabric
