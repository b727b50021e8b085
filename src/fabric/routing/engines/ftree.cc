#include <algorithm>
#include <bit>
#include <memory>
#include <span>

#include "fabric/routing/engines/fat_tree.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/turns.h"

// E. Zahavi, G. Johnson, D. Kerbyson, M. Lang, "Optimized InfiniBand Fat-Tree Routing for Shift All-to-All
// Communication Patterns", Concurrency and Computation 22(2), 2010. In a complete tree the paper's D-mod-K gives every
// destination one way down from one root, such that destinations are dealt to the channels in turn. Here the way down
// is built from the destination's leaf upwards over the channels that the fewest destinations have so far, which is the
// same on a complete tree and stays even where links, leaves or hosts are missing. All others go up to that root where
// they can.
//
// Only the ways down depend on those of other destinations, and they take a few steps each: they are dealt one after
// the other. What leads into them is found by threads that share the destinations.

namespace holdfast::fabric {
namespace {

/// The one way down to each adapter LID.
class WaysDown {
 public:
  WaysDown(const SwitchGraph& graph, const std::vector<std::uint32_t>& level) {
    std::vector<std::vector<std::uint32_t>> into(graph.rows());  // channels that lead down to a row
    for (std::uint32_t id = 0; id < graph.arcs().size(); ++id) {
      const SwitchGraph::Arc& arc = graph.arc(id);
      if (level[arc.from] <= level[arc.to]) continue;
      for (std::uint32_t i = 0; i < arc.channels; ++i) into[arc.to].push_back(arc.first_channel + i);
    }
    std::vector<std::uint32_t> dealt(graph.channels().size());  // destinations whose one way down it is on
    for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
      first_.push_back(static_cast<std::uint32_t>(channels_.size()));
      for (std::uint32_t row = terminal.row; !into[row].empty();) {
        const std::uint32_t channel =
            *std::ranges::min_element(into[row], {}, [&](std::uint32_t one) { return dealt[one]; });
        ++dealt[channel];
        channels_.push_back(channel);
        row = graph.arc(graph.channels()[channel].arc).from;
      }
    }
    first_.push_back(static_cast<std::uint32_t>(channels_.size()));
  }

  /// From the leaf to the root; `terminal` as in SwitchGraph::terminals().
  std::span<const std::uint32_t> to(std::size_t terminal) const {
    return {channels_.data() + first_[terminal], first_[terminal + 1] - first_[terminal]};
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> channels_;
};

/// Routes to one switch after another; one to a thread. Adapters are looked at up to 64 at a time, a bit each.
class TrunkTables {
 public:
  TrunkTables(const SwitchGraph& graph, const WaysDown& ways, const Turns& turns, Forwarding& tables)
      : graph_(graph), ways_(ways), turns_(turns), tables_(tables) {}

  void lay(const Choices& choices) {
    constexpr std::size_t bits = 64;
    lay_management(graph_, choices, tables_);
    const std::span<const SwitchGraph::Terminal> adapters = graph_.terminals_at(choices.order[0]);
    for (std::size_t first = 0; first < adapters.size(); first += bits)
      lay_some(choices, adapters.subspan(first, std::min(bits, adapters.size() - first)));
  }

 private:
  void lay_some(const Choices& choices, std::span<const SwitchGraph::Terminal> adapters) {
    number_ = static_cast<std::uint64_t>(adapters.data() - graph_.terminals().data());
    adapters_ = adapters;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - adapters.size());
    trunk_.assign(graph_.rows(), 0);
    trunk_[choices.order[0]] = all;
    for (std::size_t at = 0; at < adapters.size(); ++at) {
      for (const std::uint32_t channel : ways_.to(number_ + at)) {
        trunk_[graph_.arc(graph_.channels()[channel].arc).from] |= std::uint64_t{1} << at;
        enter(channel, at);
      }
    }
    for (std::size_t i = 1; i < choices.order.size(); ++i) {
      const std::uint32_t row = choices.order[i];
      lead_to_trunk(row, std::span(choices.arcs).subspan(choices.first[i], choices.first[i + 1] - choices.first[i]),
                    all & ~trunk_[row], choices.order[0]);
    }
  }

  void enter(std::uint32_t channel, std::size_t at) {
    const SwitchGraph::Channel& out = graph_.channels()[channel];
    tables_.table(graph_.arc(out.arc).from)[adapters_[at].lid] = out.port;
  }

  /// The adapters of these bits get an arc that leads to their way down, if there is one; of several, and where there
  /// is none, the one whose turn it is.
  void lead_to_trunk(std::uint32_t row, std::span<const std::uint32_t> arcs, std::uint64_t open, std::uint32_t to) {
    std::uint64_t once = 0;
    std::uint64_t often = 0;
    for (const std::uint32_t id : arcs) {
      const std::uint64_t leads = trunk_[graph_.arc(id).to] & open;
      often |= once & leads;
      once |= leads;
    }
    const std::uint64_t clear = once & ~often;
    std::uint64_t joined = 0;  // further adapters to whose ways down this row leads
    for (const std::uint32_t id : arcs) {
      const SwitchGraph::Arc& arc = graph_.arc(id);
      const std::uint64_t mine = trunk_[arc.to] & clear;
      if (arc.to != to) joined |= mine;
      for (std::uint64_t left = mine; left != 0; left &= left - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t round = arc.channels == 1 ? 0 : turn(row, at) / arcs.size();
        enter(channel_in_turn(arc, round), at);
      }
    }
    for (std::uint64_t left = open & ~clear; left != 0; left &= left - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(left));
      const std::uint64_t bit = left & -left;
      std::uint64_t choice = turn(row, at);
      const std::uint64_t round = choice / arcs.size();
      while ((often & bit) != 0 && (trunk_[graph_.arc(arcs[choice % arcs.size()]).to] & bit) == 0) ++choice;
      const SwitchGraph::Arc& arc = graph_.arc(arcs[choice % arcs.size()]);
      if (arc.to != to) joined |= often & bit;
      enter(channel_in_turn(arc, round), at);
    }
    trunk_[row] |= joined;
  }

  std::uint64_t turn(std::uint32_t row, std::size_t at) const { return (number_ + at) / turns_.divider(row); }

  const SwitchGraph& graph_;
  const WaysDown& ways_;
  const Turns& turns_;
  Forwarding& tables_;
  std::uint64_t number_ = 0;  // of the first adapter at hand
  std::span<const SwitchGraph::Terminal> adapters_;
  std::vector<std::uint64_t> trunk_;  // by row: bits of adapters on whose way down it is, or leads into it
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

/// Where links or leaves are missing, one way down for each destination leaves some of them two on one channel: looked
/// at again on small fabrics.
void even_out(const SwitchGraph& graph, const UpDownRule& rule, Forwarding& tables) {
  const std::uint64_t passes = affordable_passes(graph);
  if (passes == 0) return;
  Balance balance(graph, Balance::Picking::one_by_one);
  const Relief tables_by_channel(graph, balance, tables);
  UpDownRule mine = rule;
  Choices choices;
  for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
    if (choices.order.empty() || choices.order[0] != terminal.row) mine.choices_to(terminal.row, choices);
    balance.picks().assign(choices.order.size(), none);
    for (std::size_t i = 1; i < choices.order.size(); ++i)
      balance.picks()[i] = tables_by_channel.channel_of(choices.order[i], terminal.lid);
    balance.count(choices);
  }
  if (balance.largest_load() > even_load_of_levels(graph, balance)) relieve(graph, rule, passes, balance, tables);
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
  Forwarding tables = graph.local_tables(fabric);
  std::vector<std::uint32_t> cut_off(graph.rows(), none);
  constexpr std::size_t neighbours = 8;  // their LIDs lie beside each other: not two threads on one cache line
  std::vector<std::unique_ptr<Worker>> workers(parallel::thread_count(options.threads));
  parallel::parallel_for(graph.rows(), neighbours, options.threads,
                         [&](unsigned worker, std::size_t begin, std::size_t end) {
                           std::unique_ptr<Worker>& mine = workers[worker];
                           if (!mine) mine.reset(new Worker{rule, TrunkTables(graph, ways, turns, tables), {}});
                           for (std::size_t row = begin; row < end; ++row) {
                             mine->rule.choices_to(static_cast<std::uint32_t>(row), mine->choices);
                             cut_off[row] = cut_off_from(graph, mine->choices);
                             if (cut_off[row] == none) mine->tables.lay(mine->choices);
                           }
                         });
  const auto cut = std::find_if(cut_off.begin(), cut_off.end(), [](std::uint32_t row) { return row != none; });
  if (cut != cut_off.end()) return no_way_up_and_down(fabric, graph, "ftree", *cut);
  even_out(graph, rule, tables);
  tables.know_up_down(level.value());
  return tables;
}

}  // namespace holdfast::fabric
