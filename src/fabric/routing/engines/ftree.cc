#include <algorithm>
#include <bit>
#include <memory>
#include <span>

#include "fabric/routing/engines/fat_tree.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/turns.h"
#include "fabric/routing/engines/ways_down.h"

// E. Zahavi, G. Johnson, D. Kerbyson, M. Lang, "Optimized InfiniBand Fat-Tree Routing for Shift All-to-All
// Communication Patterns", Concurrency and Computation 22(2), 2010. In a complete tree the paper's D-mod-K gives every
// destination one way down from one root, such that destinations are dealt to the channels in turn. Here the way down
// is built from the destination's leaf upwards over the channels that the fewest destinations have so far, which is the
// same on a complete tree and stays even where links, leaves or hosts are missing. All others go up to that root where
// they can.
//
// The ways down depend on those of other destinations, but take a few steps each: they are dealt one after the other.
// What leads into them is found by threads that share the destinations. Where some switch has several ways into one, or
// none, as where links are missing, that destination is routed again, by what the channels carry.

namespace holdfast::fabric {
namespace {

/// Routes to one switch after another; one to a thread. Adapters are looked at up to 64 at a time, a bit each.
class TrunkTables {
 public:
  TrunkTables(const SwitchGraph& graph, const WaysDown& ways, const Turns& turns, Forwarding& tables)
      : graph_(graph), ways_(ways), turns_(turns), tables_(tables), management_(graph, tables) {}

  /// `unclear`, by SwitchGraph::terminals(): 1 for those of this switch to whose way down several arcs of some row
  /// lead, or none of a row that sends; their routes are to be laid again.
  void lay(const Choices& choices, std::vector<std::uint8_t>& unclear) {
    constexpr std::size_t bits = 64;
    management_.lay(choices);
    const std::span<const SwitchGraph::Terminal> adapters = graph_.terminals_at(choices.order[0]);
    for (std::size_t first = 0; first < adapters.size(); first += bits)
      lay_some(choices, adapters.subspan(first, std::min(bits, adapters.size() - first)), unclear);
  }
  /// Ends a piece of work: the tables have all routes after it.
  void enter() { management_.enter(); }

 private:
  void lay_some(const Choices& choices, std::span<const SwitchGraph::Terminal> adapters,
                std::vector<std::uint8_t>& unclear) {
    number_ = static_cast<std::uint64_t>(adapters.data() - graph_.terminals().data());
    adapters_ = adapters;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - adapters.size());
    way_.assign(graph_.rows(), 0);
    way_[choices.order[0]] = all;
    for (std::size_t at = 0; at < adapters.size(); ++at) {
      for (const std::uint32_t channel : ways_.to(number_ + at)) {
        way_[graph_.arc(graph_.channels()[channel].arc).from] |= std::uint64_t{1} << at;
        enter(channel, at);
      }
    }
    trunk_ = way_;
    std::uint64_t clear = all;
    for (std::size_t i = 1; i < choices.order.size() && clear != 0; ++i) {
      const std::uint32_t row = choices.order[i];
      const auto arcs = std::span(choices.arcs).subspan(choices.first[i], choices.first[i + 1] - choices.first[i]);
      clear &= ~lead_to_trunk(row, arcs, clear & ~trunk_[row], choices.order[0]);
    }
    for (std::size_t at = 0; at < adapters.size(); ++at) unclear[number_ + at] = (clear >> at & 1) != 0 ? 0 : 1;
  }

  void enter(std::uint32_t channel, std::size_t at) {
    const SwitchGraph::Channel& out = graph_.channels()[channel];
    tables_.table(graph_.arc(out.arc).from)[adapters_[at].lid] = out.port;
  }

  /// Gives the adapters of these bits the only arc that leads to their way down, to a switch on it before others. Those
  /// to which several lead are returned, and those to which none does from a switch that sends; for others their turn
  /// says which arc.
  std::uint64_t lead_to_trunk(std::uint32_t row, std::span<const std::uint32_t> arcs, std::uint64_t open,
                              std::uint32_t to) {
    std::uint64_t once = 0;  // adapters to whose way down some arc leads, over other rows or at once
    std::uint64_t often = 0;
    std::uint64_t at_once = 0;
    std::uint64_t often_at_once = 0;
    for (const std::uint32_t id : arcs) {
      const std::uint64_t leads = trunk_[graph_.arc(id).to] & open;
      often |= once & leads;
      once |= leads;
      const std::uint64_t touches = way_[graph_.arc(id).to] & open;
      often_at_once |= at_once & touches;
      at_once |= touches;
    }
    const std::uint64_t straight = at_once & ~often_at_once;
    const std::uint64_t round_about = once & ~often & ~at_once;
    often = (often & ~at_once) | often_at_once;
    std::uint64_t joined = 0;  // further adapters to whose ways down this row leads
    for (const std::uint32_t id : arcs) {
      const SwitchGraph::Arc& arc = graph_.arc(id);
      const std::uint64_t mine = (way_[arc.to] & straight) | (trunk_[arc.to] & round_about);
      if (arc.to != to) joined |= mine;
      for (std::uint64_t left = mine; left != 0; left &= left - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(left));
        enter(channel_in_turn(arc, arc.channels == 1 ? 0 : turn(row, at) / arcs.size()), at);
      }
    }
    trunk_[row] |= joined;
    const std::uint64_t astray = open & ~once;
    if (graph_.sources_at(row) != 0) return often | astray;
    for (std::uint64_t left = astray; left != 0; left &= left - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(left));
      const std::uint64_t choice = turn(row, at);
      enter(channel_in_turn(graph_.arc(arcs[choice % arcs.size()]), choice / arcs.size()), at);
    }
    return often;
  }

  std::uint64_t turn(std::uint32_t row, std::size_t at) const { return (number_ + at) / turns_.divider(row); }

  const SwitchGraph& graph_;
  const WaysDown& ways_;
  const Turns& turns_;
  Forwarding& tables_;
  ManagementRoutes management_;
  std::uint64_t number_ = 0;  // of the first adapter at hand
  std::span<const SwitchGraph::Terminal> adapters_;
  std::vector<std::uint64_t> way_;    // by row: bits of adapters on whose way down it is
  std::vector<std::uint64_t> trunk_;  // the same and those that it leads into
};

/// A switch whose adapters have no route to those of the destination though cables join them; `none` when there is
/// none.
std::uint32_t cut_off_from(const SwitchGraph& graph, const Choices& choices) {
  if (graph.terminals_at(choices.order[0]).empty() || choices.order.size() == graph.rows()) return none;
  std::vector<std::uint32_t> hops;
  graph.distances_to(choices.order[0], hops);
  for (const std::uint32_t reached : choices.order) hops[reached] = none;
  std::uint32_t cut_off = none;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (hops[row] != none && graph.sources_at(row) != 0) cut_off = row;  // others send to management only
  }
  return cut_off;
}

/// Lays the routes to some destinations by loads: to the way down where an arc leads to it, of several and otherwise
/// over the channel that carries least.
class LoadTables {
 public:
  LoadTables(const SwitchGraph& graph, const WaysDown& ways, Balance& balance)
      : graph_(graph), ways_(ways), balance_(balance), trunk_(graph.rows()), place_(graph.rows()) {}

  /// Makes and counts the picks for this terminal.
  void pick(const Choices& choices, std::size_t terminal) {
    std::fill(trunk_.begin(), trunk_.end(), 0);
    std::vector<std::uint32_t>& picks = balance_.picks();
    picks.assign(choices.order.size(), none);
    for (std::uint32_t i = 0; i < choices.order.size(); ++i) place_[choices.order[i]] = i;
    trunk_[choices.order[0]] = 1;
    for (const std::uint32_t channel : ways_.to(terminal)) {
      const std::uint32_t row = graph_.arc(graph_.channels()[channel].arc).from;
      trunk_[row] = 1;
      picks[place_[row]] = channel;
    }
    for (std::uint32_t i = 1; i < choices.order.size(); ++i) {
      if (picks[i] == none) picks[i] = towards_trunk(choices, i);
    }
    balance_.count(choices);
  }

 private:
  std::uint32_t towards_trunk(const Choices& choices, std::uint32_t i) {
    std::uint32_t best = none;
    bool best_on_trunk = false;
    std::uint64_t least = 0;
    for (std::uint32_t at = choices.first[i]; at < choices.first[i + 1]; ++at) {
      const std::uint32_t channel = balance_.emptiest(choices.arcs[at]);
      const bool on_trunk = trunk_[balance_.to(channel)] != 0;
      if (best_on_trunk && !on_trunk) continue;
      const std::uint64_t load = balance_.load(channel);
      if (best != none && on_trunk == best_on_trunk && load >= least) continue;
      best = channel;
      best_on_trunk = on_trunk;
      least = load;
    }
    trunk_[choices.order[i]] = best_on_trunk && choices.order[0] != balance_.to(best) ? 1 : 0;
    return best;
  }

  const SwitchGraph& graph_;
  const WaysDown& ways_;
  Balance& balance_;
  std::vector<std::uint8_t> trunk_;  // by row: on the way down, or leads into it
  std::vector<std::uint32_t> place_;
};

/// Makes what the first look at destinations left as even as their ways down allow.
class Evening {
 public:
  /// `unclear`: by SwitchGraph::terminals(), 1 for those whose routes are not laid yet.
  Evening(const SwitchGraph& graph, const UpDownRule& rule, const WaysDown& ways,
          const std::vector<std::uint8_t>& unclear, unsigned threads, Forwarding& tables)
      : graph_(graph),
        rule_(rule),
        unclear_(unclear),
        threads_(threads),
        tables_(tables),
        balance_(graph, Balance::Picking::one_by_one),
        loads_(graph, ways, balance_) {}

  std::uint64_t largest_load() const { return balance_.largest_load(); }
  std::uint64_t even_load() const { return even_load_of_levels(graph_, balance_); }

  /// Counts the routes that are laid, and lays the others.
  void complete() {
    const Relief by_channel(graph_, balance_, tables_);
    for_each(false, [&](const Choices& choices, std::size_t terminal) {
      balance_.picks().assign(choices.order.size(), none);
      for (std::size_t i = 1; i < choices.order.size(); ++i)
        balance_.picks()[i] = by_channel.channel_of(choices.order[i], lid(terminal));
      balance_.count(choices);
    });
    for_each(true, [&](const Choices& choices, std::size_t terminal) {
      loads_.pick(choices, terminal);
      balance_.enter(choices, lid(terminal), tables_);
    });
  }

  /// Looks again at how others come to the ways down of unclear destinations: those laid early did not know what the
  /// rest brings. The tables stay as they were if the fullest channel carries more then.
  void look_again(std::uint64_t passes) {
    if (passes == 0) return;
    const std::uint64_t fullest = largest_load();
    const Forwarding before = tables_;
    Relief relief(graph_, balance_, tables_);
    bool improved = true;
    for (std::uint64_t pass = 0; pass < passes && improved; ++pass) {
      improved = false;
      for_each(true, [&](const Choices& choices, std::size_t terminal) {
        const bool better = relief.improve(choices, lid(terminal), [&]() -> const Choices& {
          loads_.pick(choices, terminal);
          return choices;
        });
        improved = improved || better;
      });
    }
    if (largest_load() > fullest) tables_ = before;
  }

  /// Looks again at all destinations, be it away from their ways down.
  void look_beside_ways(std::uint64_t passes) {
    const std::vector<Choices> known = choices_to_all(graph_, rule_, threads_);
    relieve(graph_, passes, balance_, tables_, [&](std::uint32_t row) -> const Choices& { return known[row]; });
  }

 private:
  Lid lid(std::size_t terminal) const { return graph_.terminals()[terminal].lid; }

  /// Calls use(choices, terminal) for destinations that are unclear, or are not.
  template <class Use>
  void for_each(bool unclear, const Use& use) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t terminal = 0; terminal < unclear_.size(); ++terminal) {
      const std::uint32_t row = graph_.terminals()[terminal].row;
      if ((unclear_[terminal] != 0) == unclear && (rows.empty() || rows.back() != row)) rows.push_back(row);
    }
    for_each_destination(rows, rule_, threads_, [&](std::uint32_t row, const Choices& choices) {
      const std::span<const SwitchGraph::Terminal> adapters = graph_.terminals_at(row);
      const auto first = static_cast<std::size_t>(adapters.data() - graph_.terminals().data());
      for (std::size_t terminal = first; terminal < first + adapters.size(); ++terminal)
        if ((unclear_[terminal] != 0) == unclear) use(choices, terminal);
      return true;
    });
  }

  const SwitchGraph& graph_;
  const UpDownRule& rule_;
  const std::vector<std::uint8_t>& unclear_;
  unsigned threads_;
  Forwarding& tables_;
  Balance balance_;
  LoadTables loads_;
};

/// Lays what is unclear. On small fabrics all destinations are looked at again, since one way down for each leaves some
/// of them two on one channel; on others those that were unclear, where that takes some 50 ms at most.
void even_out(const SwitchGraph& graph, const UpDownRule& rule, const WaysDown& ways,
              const std::vector<std::uint8_t>& unclear, unsigned threads, Forwarding& tables) {
  constexpr std::uint64_t affordable = 10'000'000;
  constexpr std::uint64_t most = 2;  // the second still helps TSUBAME2.0, a third does not
  const std::uint64_t passes = affordable_passes(graph);
  if (passes == 0 && std::ranges::find(unclear, 1) == unclear.end()) return;
  Evening evening(graph, rule, ways, unclear, threads, tables);
  evening.complete();
  if (passes == 0) {
    evening.look_again(std::min(most, affordable_passes(graph, affordable)));
  } else if (evening.largest_load() > evening.even_load()) {
    evening.look_beside_ways(passes);
  }
}

struct Worker {
  UpDownRule rule;
  TrunkTables tables;
  Choices choices;
};

}  // namespace

Result<Forwarding> route_ftree(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  const auto level = fat_tree_levels(fabric, graph, "ftree", options);
  if (!level.ok()) return level.status();
  std::vector<std::uint32_t> key = level.value();
  for (std::uint32_t& one : key) one = none - one;
  const SwitchOrder order = order_by(graph, key);
  const UpDownRule rule(graph, order);
  const WaysDown ways(graph, level.value());
  const Turns turns(graph, level.value());
  Forwarding tables = graph.local_tables(fabric, options.threads);
  std::vector<std::uint32_t> cut_off(graph.rows(), none);
  std::vector<std::uint8_t> unclear(graph.terminals().size(), 0);
  constexpr std::size_t neighbours = 8;  // their LIDs lie beside each other: not two threads on one cache line
  std::vector<std::unique_ptr<Worker>> workers(parallel::thread_count(options.threads));
  parallel::parallel_for(graph.rows(), neighbours, options.threads,
                         [&](unsigned worker, std::size_t begin, std::size_t end) {
                           std::unique_ptr<Worker>& mine = workers[worker];
                           if (!mine) mine.reset(new Worker{rule, TrunkTables(graph, ways, turns, tables), {}});
                           for (std::size_t row = begin; row < end; ++row) {
                             mine->rule.choices_to(static_cast<std::uint32_t>(row), mine->choices);
                             cut_off[row] = cut_off_from(graph, mine->choices);
                             if (cut_off[row] == none) mine->tables.lay(mine->choices, unclear);
                           }
                           mine->tables.enter();
                         });
  const auto cut = std::find_if(cut_off.begin(), cut_off.end(), [](std::uint32_t row) { return row != none; });
  if (cut != cut_off.end()) return no_way_up_and_down(fabric, graph, "ftree", *cut);
  even_out(graph, rule, ways, unclear, options.threads, tables);
  tables.know_up_down(level.value());
  return tables;
}

}  // namespace holdfast::fabric
