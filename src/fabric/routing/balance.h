#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/routing/choices.h"
#include "fabric/routing/parallel_for.h"

namespace holdfast::fabric {

/// How many routes between adapters each channel carries so far, and one pick of Choices for a LID. Engines fill tables
/// LID by LID: pick, enter, count.
class Balance {
 public:
  explicit Balance(const SwitchGraph& graph);

  /// Takes at each switch, farthest first, the allowed channel with the fewest routes, and counts those that come
  /// through it: how even the result is depends on what the switch itself sees.
  void pick_by_switch(const Choices& choices, bool counts);

  /// Takes for each switch the allowed path whose channels carry the fewest routes in sum, then counts: the algorithm
  /// of T. Hoefler, T. Schneider, A. Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks", HOTI 2009,
  /// with every hop costing more than any sum of loads. As the hops are known, sums over a graph without cycles replace
  /// Dijkstra's queue.
  void pick_by_path(const Choices& choices, bool counts);

  /// Counts the routes of picks that were made otherwise.
  void count(const Choices& choices);

  /// By position in Choices::order from 1 on: the channel picked.
  std::vector<std::uint32_t>& picks() { return picks_; }
  const std::vector<std::uint64_t>& load() const { return load_; }
  std::uint32_t to(std::uint32_t channel) const { return to_[channel]; }

  /// Writes the picks into the switches' tables.
  void enter(const Choices& choices, Lid lid, Forwarding& tables) const;

 private:
  void prepare(const Choices& choices);

  const SwitchGraph& graph_;
  std::vector<std::uint32_t> to_;       // by channel
  std::vector<std::uint8_t> port_;      // by channel
  std::vector<std::uint64_t> load_;     // by channel
  std::vector<std::uint64_t> entries_;  // by channel: LIDs that it is the way out for
  std::vector<std::uint32_t> through_;  // by row
  std::vector<std::uint64_t> cost_;     // by row
  std::vector<std::uint32_t> picks_;
};

/// Calls use(row, choices) for every switch as destination in the order of rows, from this thread, while `threads`
/// threads work out the choices of the next ones by copies of `rule`. Stops early when use returns false.
template <class Rule, class Use>
bool for_each_destination(const SwitchGraph& graph, const Rule& rule, unsigned threads, const Use& use) {
  const unsigned workers = thread_count(threads);
  const std::uint32_t batch = 8 * workers;
  std::vector<Rule> rules(workers, rule);
  std::vector<Choices> choices(batch);
  for (std::uint32_t first = 0; first < graph.rows(); first += batch) {
    const std::uint32_t count = std::min(batch, graph.rows() - first);
    parallel_for(count, 1, workers, [&](unsigned worker, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        rules[worker].choices_to(first + static_cast<std::uint32_t>(i), choices[i]);
      }
    });
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!use(first + i, choices[i])) return false;
    }
  }
  return true;
}

/// Routes to the switch's own LID and to every LID of its adapters: pick(balance, choices, counts) for each of them.
template <class Pick>
void lay_routes(const SwitchGraph& graph, std::uint32_t destination, const Choices& choices, Balance& balance,
                Forwarding& tables, const Pick& pick) {
  const std::vector<std::uint32_t> rest = channels_of_rest(graph, choices);
  const auto lay = [&](Lid lid, bool counts) {
    pick(balance, choices, counts);
    balance.enter(choices, lid, tables);
    for (const std::uint32_t channel : rest) {
      tables.set_out_port(graph.arc(graph.channels()[channel].arc).from, lid, graph.channels()[channel].port);
    }
  };
  if (graph.switch_lid(destination) != 0) lay(graph.switch_lid(destination), false);
  for (const SwitchGraph::Terminal& terminal : graph.terminals_at(destination)) lay(terminal.lid, true);
}

}  // namespace holdfast::fabric
