#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel/parallel_for.h"
#include "fabric/routing/graph/choices.h"

namespace holdfast::fabric {

/// How many routes between adapters each channel carries so far, and one pick of Choices for a LID. Engines fill tables
/// LID by LID. Of parallel channels the one with the fewest routes is taken.
///
/// A path costs the sum of the squares of its channels' loads, so that one full channel is avoided at the price of
/// several half full ones. As the hops are known from the rule, sums over a graph without cycles replace the queue of
/// Dijkstra's algorithm: T. Hoefler, T. Schneider, A. Lumsdaine, "Optimized Routing for Large-Scale InfiniBand
/// Networks", HOTI 2009, with every hop costing more than any loads.
class Balance {
 public:
  /// Whether all switches pick at once for a LID, or in groups or one by one, each seeing the routes of those before
  /// it. At once, all that share a way to the destination crowd there: worse where there is much to choose from or
  /// crowds are too many to lie side by side, and better where they come to, as in whole trees.
  enum class Picking : std::uint8_t { at_once, in_groups, one_by_one };

  explicit Balance(const SwitchGraph& graph, Picking picking = Picking::in_groups);

  /// Picks the cheapest allowed path for each switch and counts a route for each adapter port that sends.
  void pick(const Choices& choices);
  /// Any allowed path, another one for another `turn`, not counted: for what carries no traffic between adapters.
  void pick_in_turn(const Choices& choices, std::uint32_t turn);

  /// Counts the routes of picks that were made otherwise.
  void count(const Choices& choices);
  /// Takes the routes of the picks away again.
  void uncount(const Choices& choices);

  /// By channel: what it carries.
  const std::vector<std::uint64_t>& loads() const { return load_; }
  /// Gives these channels what they carried before, by channel.
  void restore(const std::vector<std::uint32_t>& channels, const std::vector<std::uint64_t>& loads);

  /// Adds routes that were laid and counted otherwise, by channel.
  void add(const std::vector<std::uint64_t>& routes);

  /// By position in Choices::order from 1 on: the channel picked.
  std::vector<std::uint32_t>& picks() { return picks_; }
  /// From now on a path costs the sum of the 16th powers of its channels' loads, of which its fullest channel's is
  /// nearly all.
  void price_steeply();
  /// What the loads of channels are judged by: the sum of this, whose slope is what a route costs there.
  double weight(std::uint64_t load) const;

  std::uint64_t load(std::uint32_t channel) const { return load_[channel]; }
  std::uint32_t to(std::uint32_t channel) const { return ways_[arc_[channel]].to; }
  /// Of parallel channels the one with the fewest routes.
  std::uint32_t emptiest(std::uint32_t arc) const { return bundles_[arc].emptiest; }
  /// What its emptiest channel adds to the cost of a path.
  float cost(std::uint32_t arc) const { return ways_[arc].cost; }
  std::uint64_t largest_load() const;

  /// Writes the picks into the switches' tables.
  void enter(const Choices& choices, Lid lid, Forwarding& tables) const;

 private:
  /// What picking looks at of an arc: 8 bytes, so that those of thousands of arcs stay in the nearest cache.
  struct Way {
    float cost = 0;  ///< of the emptiest channel
    std::uint32_t to = 0;
  };
  /// The parallel channels of an arc.
  struct Bundle {
    std::uint32_t emptiest = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  float cost_of(std::uint64_t load) const;
  /// After a change of the channel's load.
  void refresh(std::uint32_t channel);
  std::uint32_t pick_for(const Choices& choices, std::size_t position);
  void count_from(std::uint32_t row);
  void settle_costs(const Choices& choices, std::size_t end);
  template <class Change>
  void change_loads(const Choices& choices, const Change& change);

  const SwitchGraph& graph_;
  Picking picking_;
  float steep_ = 0;                     // one over the fullest load when prices became steep; 0: they are squares
  std::vector<Way> ways_;               // by arc
  std::vector<Bundle> bundles_;         // by arc
  std::vector<std::uint64_t> load_;     // by channel
  std::vector<float> price_;            // by channel: what it adds to the cost of a path
  std::vector<std::uint32_t> arc_;      // by channel
  std::vector<std::uint8_t> port_;      // by channel
  std::vector<std::uint32_t> through_;  // by row
  std::vector<float> cost_;             // by row
  std::vector<std::uint32_t> next_;     // by row: the channel picked
  std::vector<std::uint32_t> picks_;
  std::vector<std::uint32_t> onward_;  // by position: the row that the pick leads to
};

/// The rows in an order in which near ones are far apart: balancing sees all of the fabric early.
std::vector<std::uint32_t> scattered_rows(const SwitchGraph& graph);

/// The choices to each row, by row, worked out by `threads` threads with copies of `rule`.
template <class Rule>
std::vector<Choices> choices_to_all(const SwitchGraph& graph, const Rule& rule, unsigned threads) {
  constexpr std::size_t piece = 64;
  std::vector<Choices> all(graph.rows());
  parallel::parallel_for(all.size(), piece, threads, [&](unsigned /*worker*/, std::size_t begin, std::size_t end) {
    Rule mine = rule;
    for (std::size_t row = begin; row < end; ++row) mine.choices_to(static_cast<std::uint32_t>(row), all[row]);
  });
  return all;
}

/// Calls use(row, choices) for these rows as destinations, in turn and from this thread, while `threads` threads work
/// out the choices of the next ones by copies of `rule`. Stops early when use returns false.
template <class Rule, class Use>
bool for_each_destination(const std::vector<std::uint32_t>& rows, const Rule& rule, unsigned threads, const Use& use) {
  const unsigned workers = parallel::thread_count(threads);
  const std::size_t batch = 8 * workers;
  std::vector<Rule> rules(workers, rule);
  std::vector<Choices> choices(batch);
  for (std::size_t first = 0; first < rows.size(); first += batch) {
    const std::size_t count = std::min(batch, rows.size() - first);
    parallel::parallel_for(count, 1, workers, [&](unsigned worker, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) rules[worker].choices_to(rows[first + i], choices[i]);
    });
    for (std::size_t i = 0; i < count; ++i) {
      if (!use(rows[first + i], choices[i])) return false;
    }
  }
  return true;
}

/// Routes to the switch's own LID and to every LID of its adapters, whose picks are made and counted by
/// pick(balance, choices, terminal).
template <class Pick>
void lay_routes(const SwitchGraph& graph, std::uint32_t destination, const Choices& choices, Balance& balance,
                Forwarding& tables, const Pick& pick) {
  const std::vector<std::uint32_t> rest = channels_of_rest(graph, choices);
  const auto enter = [&](Lid lid) {
    balance.enter(choices, lid, tables);
    for (const std::uint32_t channel : rest) {
      tables.set_out_port(graph.arc(graph.channels()[channel].arc).from, lid, graph.channels()[channel].port);
    }
  };
  if (graph.switch_lid(destination) != 0) {
    balance.pick_in_turn(choices, destination);
    enter(graph.switch_lid(destination));
  }
  for (const SwitchGraph::Terminal& terminal : graph.terminals_at(destination)) {
    pick(balance, choices, terminal);
    enter(terminal.lid);
  }
}
inline void lay_routes(const SwitchGraph& graph, std::uint32_t destination, const Choices& choices, Balance& balance,
                       Forwarding& tables) {
  lay_routes(graph, destination, choices, balance, tables,
             [](Balance& by, const Choices& among, const SwitchGraph::Terminal& /*to*/) { by.pick(among); });
}

}  // namespace holdfast::fabric
