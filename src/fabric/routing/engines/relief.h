#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/routing/engines/balance.h"
#include "fabric/routing/engines/shares.h"
#include "fabric/routing/engines/turns.h"

namespace holdfast::fabric {

/// Mends what early picks could not know: takes the routes to a LID away, picks them again on what all others carry,
/// and keeps the better. The loads and tables of the Balance and the Forwarding go together before and after; from the
/// making of this object to its last improve(), nobody else changes them.
class Relief {
 public:
  Relief(const SwitchGraph& graph, Balance& balance, Forwarding& tables);

  /// The channel that the table of a switch has for a LID of an adapter elsewhere.
  std::uint32_t channel_of(std::uint32_t row, Lid lid) const {
    return channel_at_[row * 256U + tables_.out_port(row, lid)];
  }

  /// The channels that the tables have to a LID, by position in choices.order from 1 on.
  void read_picks(const Choices& choices, Lid lid, std::vector<std::uint32_t>& picks) const;

  /// Whether other picks for this LID make the sum of the loads' weights smaller; if so they are in the tables.
  /// `before` has the order of the routes that are there; pick_anew() picks and counts and returns the order of its
  /// own.
  template <class PickAnew>
  bool improve(const Choices& before, Lid lid, const PickAnew& pick_anew) {
    take_away(before, lid);
    const Choices& after = pick_anew();
    if (keep_better(before, after)) return false;
    balance_.enter(after, lid, tables_);
    return true;
  }
  bool improve(const Choices& choices, Lid lid) {
    return improve(choices, lid, [&]() -> const Choices& {
      balance_.pick(choices);
      return choices;
    });
  }

 private:
  void take_away(const Choices& before, Lid lid);
  /// Whether the routes of before are put back.
  bool keep_better(const Choices& before, const Choices& after);
  /// Over the channels touched.
  double sum_of_weights(const std::vector<std::uint64_t>& loads) const;

  const SwitchGraph& graph_;
  Balance& balance_;
  Forwarding& tables_;
  std::vector<std::uint32_t> channel_at_;  // by row * 256 + port
  std::vector<std::uint32_t> before_;
  std::vector<std::uint64_t> loads_before_;  // by channel: what the tables that are kept come to
  std::vector<std::uint32_t> touched_;
};

/// How often it is worth to look at every adapter LID again when that may look at so many arcs (a few milliseconds); 0
/// for large fabrics, whose first picks are even by their number.
std::uint64_t affordable_passes(const SwitchGraph& graph, std::uint64_t affordable = 700'000);

/// Looks at every adapter LID again, as often as that helps and no more than `passes` times. choices_to(row) are those
/// to a switch, good until the next call.
template <class ChoicesTo>
void relieve(const SwitchGraph& graph, std::uint64_t passes, Balance& balance, Forwarding& tables,
             const ChoicesTo& choices_to) {
  Relief relief(graph, balance, tables);
  bool improved = true;
  for (std::uint64_t pass = 0; pass < passes && improved; ++pass) {
    improved = false;
    for (const std::uint32_t row : scattered_rows(graph)) {
      if (graph.terminals_at(row).empty()) continue;
      const Choices& choices = choices_to(row);
      for (const SwitchGraph::Terminal& terminal : graph.terminals_at(row))
        improved = relief.improve(choices, terminal.lid) || improved;
    }
  }
}

/// Takes routes off the fullest channels of tables that are even by squares, with steep prices, again and again while
/// that makes the fullest less full and no more than `rounds` times; other routes stay. known[row] are the choices to a
/// switch, of which the tables' routes are some.
void relieve_fullest(const SwitchGraph& graph, unsigned rounds, const std::vector<Choices>& known, Forwarding& tables);

/// Whether every cable joins neighbouring levels above the adapters, as in a tree.
bool lies_in_levels(const SwitchGraph& graph);

/// Whether every cable joins a switch with adapters and one without. At once is then best where nothing is missing, and
/// the fastest; with more levels it is not, and large fabrics would pay for both ways.
bool has_two_levels(const SwitchGraph& graph);

/// Of a network that lies in levels: what the fullest channel would carry if each switch spread evenly what it now
/// sends to each of the two beside its own. 0 for others.
std::uint64_t even_load_of_levels(const SwitchGraph& graph, const Balance& balance);

/// Fills tables with routes by this rule in closed form and counts them; false when accept(row, choices), which threads
/// call at once, refused those to a switch.
template <class Dealing, class Rule, class Accept>
bool lay_in_closed_form(const SwitchGraph& graph, const Dealing& dealing, const Rule& rule, unsigned threads,
                        const Accept& accept, Forwarding& tables, Balance& balance) {
  constexpr std::size_t neighbours = 8;  // their LIDs lie beside each other: not two threads on one cache line
  struct Worker {
    Rule rule;
    ClosedTables<Dealing> laid;
    Choices choices;
  };
  std::vector<std::unique_ptr<Worker>> workers(parallel::thread_count(threads));
  std::atomic<bool> accepted = true;
  parallel::parallel_for(graph.rows(), neighbours, threads, [&](unsigned worker, std::size_t begin, std::size_t end) {
    std::unique_ptr<Worker>& mine = workers[worker];
    if (!mine) mine.reset(new Worker{rule, ClosedTables<Dealing>(graph, dealing, tables), {}});
    for (std::size_t row = begin; row < end && accepted; ++row) {
      mine->rule.choices_to(static_cast<std::uint32_t>(row), mine->choices);
      if (accept(static_cast<std::uint32_t>(row), mine->choices)) {
        mine->laid.lay(mine->choices);
      } else {
        accepted = false;
      }
    }
    mine->laid.enter();
  });
  for (const std::unique_ptr<Worker>& worker : workers) {
    if (worker) balance.add(worker->laid.load());
  }
  return accepted;
}

/// Fills tables with routes by this rule, as evenly as we can, and returns how many each channel carries; nothing when
/// accept(row, choices) refused those to a switch. Complete trees, and others of three levels and more, are routed in
/// closed form first, others and small ones in several ways of picking, until one is as even as levels allow; the first
/// of those whose fullest channel carries least counts. For large fabrics 2 % more than that is even, since picks there
/// follow one after the other and take long. Picks at once, where they are as even as others, bring what goes to one
/// place together early and keep it apart from the rest.
template <class Rule, class Accept>
std::optional<std::vector<std::uint64_t>> lay_evenly(const Fabric& fabric, const SwitchGraph& graph, const Rule& rule,
                                                     unsigned threads, const Accept& accept, Forwarding& tables) {
  using enum Balance::Picking;
  std::optional<std::vector<std::uint64_t>> loads;
  std::uint64_t least = 0;
  bool even = false;
  constexpr std::uint64_t few = 3;  // one pass alone leaves Deimos fuller than OpenSM's sssp does
  const std::uint64_t affordable = affordable_passes(graph);
  const std::uint64_t passes = affordable == 0 ? 0 : std::max(affordable, few);
  const auto keep = [&](const Balance& balance, Forwarding laid) {
    const std::uint64_t largest = balance.largest_load();
    if (loads && largest >= least) return;
    tables = std::move(laid);
    loads = balance.loads();
    least = largest;
    const std::uint64_t least_possible = even_load_of_levels(graph, balance);
    even = largest <= least_possible + (passes == 0 ? least_possible / 50 : 0);
  };
  const std::vector<std::uint32_t> rows = scattered_rows(graph);
  std::vector<Choices> known;  // by row, of a small fabric: each is looked at some times in each way of picking
  /// False when refused.
  const auto lay = [&](Balance::Picking picking) {
    Forwarding laid = graph.local_tables(fabric, threads);
    Balance balance(graph, picking);
    const auto lay_to = [&](std::uint32_t row, const Choices& choices) {
      if (!accept(row, choices)) return false;
      lay_routes(graph, row, choices, balance, laid);
      return true;
    };
    if (passes == 0) {
      if (!for_each_destination(rows, rule, threads, lay_to)) return false;
    } else {
      if (known.empty()) known = choices_to_all(graph, rule, threads);
      if (!std::ranges::all_of(rows, [&](std::uint32_t row) { return lay_to(row, known[row]); })) return false;
      relieve(graph, passes, balance, laid, [&](std::uint32_t row) -> const Choices& { return known[row]; });
    }
    keep(balance, std::move(laid));
    return true;
  };
  const auto lay_closed = [&](const auto& dealing) {
    Balance balance(graph);
    Forwarding laid = graph.local_tables(fabric, threads);
    if (!lay_in_closed_form(graph, dealing, rule, threads, accept, laid, balance)) return false;
    keep(balance, std::move(laid));
    return true;
  };
  const bool two_levels = has_two_levels(graph);
  if (lies_in_levels(graph)) {
    const std::vector<std::uint32_t> level = levels_above_adapters(graph);
    if (const std::optional<Shares> shares = Shares::of(graph, level)) {
      if (!lay_closed(*shares)) return std::nullopt;
    } else if (!two_levels && !lay_closed(Turns(graph, level))) {
      return std::nullopt;
    }
  }
  auto ways = std::vector{at_once, in_groups, one_by_one};
  if (passes == 0) ways = two_levels ? std::vector{at_once, in_groups} : std::vector{in_groups};
  for (const Balance::Picking picking : ways) {
    if (even) break;
    if (!lay(picking)) return std::nullopt;
  }
  return loads;
}

}  // namespace holdfast::fabric
