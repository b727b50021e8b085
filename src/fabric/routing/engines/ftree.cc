#include <algorithm>
#include <numeric>

#include "fabric/routing/engines/balance.h"
#include "fabric/routing/engines/fat_tree.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"

// E. Zahavi, G. Johnson, D. Kerbyson, M. Lang, "Optimized InfiniBand Fat-Tree Routing for Shift All-to-All
// Communication Patterns", Concurrency and Computation 22(2), 2010. In a complete tree the paper's D-mod-K gives every
// destination one way down from one root, such that destinations are dealt to the channels in turn. Here the way down
// is built from the destination's leaf upwards over the channels that the fewest destinations have so far, which is the
// same on a complete tree and stays even where links, leaves or hosts are missing. All others go up to that root where
// they can.

namespace holdfast::fabric {
namespace {

class TreeBalance {
 public:
  explicit TreeBalance(const SwitchGraph& graph)
      : graph_(graph), dealt_(graph.channels().size()), trunk_(graph.rows()), place_(graph.rows()) {}

  /// Prepares for one destination: who can come down into whom.
  void begin(const Choices& choices) {
    into_.resize(std::max(into_.size(), choices.order.size() + 1));
    for (std::vector<Step>& steps : into_) steps.clear();  // and keeps their memory
    for (std::uint32_t i = 0; i < choices.order.size(); ++i) place_[choices.order[i]] = i;
    for (std::uint32_t i = 1; i < choices.order.size(); ++i) {
      for (std::uint32_t at = choices.first[i]; at < choices.first[i + 1]; ++at) {
        const SwitchGraph::Arc& arc = graph_.arc(choices.arcs[at]);
        for (std::uint32_t channel = arc.first_channel; channel < arc.first_channel + arc.channels; ++channel)
          into_[place_[arc.to]].push_back({i, channel});
      }
    }
  }

  void pick(const Choices& choices, const std::vector<std::uint32_t>& level, Balance& balance) {
    std::fill(trunk_.begin(), trunk_.end(), 0);
    std::vector<std::uint32_t>& picks = balance.picks();
    picks.assign(choices.order.size(), none);
    std::uint32_t at = 0;
    trunk_[choices.order[0]] = 1;
    while (true) {
      const Step* best = nullptr;
      for (const Step& step : into_[at]) {
        if (level[choices.order[step.place]] <= level[choices.order[at]]) continue;
        if (best == nullptr || dealt_[step.channel] < dealt_[best->channel]) best = &step;
      }
      if (best == nullptr) break;
      picks[best->place] = best->channel;
      ++dealt_[best->channel];
      at = best->place;
      trunk_[choices.order[at]] = 1;
    }
    for (std::uint32_t i = 1; i < choices.order.size(); ++i) {
      if (picks[i] == none) picks[i] = towards_trunk(choices, i, balance);
    }
    balance.count(choices);
  }

 private:
  struct Step {
    std::uint32_t place;    // in Choices::order
    std::uint32_t channel;  // down from there
  };

  std::uint32_t towards_trunk(const Choices& choices, std::uint32_t i, const Balance& balance) {
    std::uint32_t best = none;
    bool best_on_trunk = false;
    std::uint64_t least = 0;
    for (std::uint32_t at = choices.first[i]; at < choices.first[i + 1]; ++at) {
      const std::uint32_t channel = balance.emptiest(choices.arcs[at]);
      const bool on_trunk = trunk_[balance.to(channel)] != 0;
      if (best_on_trunk && !on_trunk) continue;
      const std::uint64_t load = balance.load(channel);
      if (best != none && on_trunk == best_on_trunk && load >= least) continue;
      best = channel;
      best_on_trunk = on_trunk;
      least = load;
    }
    trunk_[choices.order[i]] = best_on_trunk && choices.order[0] != balance.to(best) ? 1 : 0;
    return best;
  }

  const SwitchGraph& graph_;
  std::vector<std::uint32_t> dealt_;  // by channel: destinations whose one way down it is on
  std::vector<std::uint8_t> trunk_;   // by row: on that way, or leads into it
  std::vector<std::uint32_t> place_;
  std::vector<std::vector<Step>> into_;
};

}  // namespace

Result<Forwarding> route_ftree(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  const auto level = fat_tree_levels(fabric, graph, "ftree", options);
  if (!level.ok()) return level.status();
  std::vector<std::uint32_t> key = level.value();
  for (std::uint32_t& one : key) one = none - one;
  const SwitchOrder order = order_by(graph, key);
  Forwarding tables = graph.local_tables(fabric);
  Balance balance(graph, Balance::Picking::one_by_one);
  TreeBalance tree(graph);
  std::vector<std::uint32_t> hops;
  std::uint32_t cut_off = none;
  std::vector<std::uint32_t> rows(graph.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  const bool joined = for_each_destination(
      rows, UpDownRule(graph, order), options.threads, [&](std::uint32_t row, const Choices& choices) {
        if (!graph.terminals_at(row).empty() && choices.order.size() < graph.rows()) {
          graph.distances_to(row, hops);
          for (const std::uint32_t reached : choices.order) hops[reached] = none;
          for (std::uint32_t other = 0; other < graph.rows(); ++other) {
            if (hops[other] != none && graph.sources_at(other) != 0) cut_off = other;  // others send to management only
          }
        }
        if (cut_off != none) return false;
        if (!graph.terminals_at(row).empty()) tree.begin(choices);
        lay_routes(graph, row, choices, balance, tables,
                   [&](Balance& by, const Choices& among, const SwitchGraph::Terminal& /*to*/) {
                     tree.pick(among, level.value(), by);
                   });
        return true;
      });
  if (!joined) {
    return no_way_up_and_down(fabric, graph, "ftree", cut_off);
  }
  // Where links or leaves are missing, one way down for each destination leaves some of them two on one channel.
  if (balance.largest_load() > even_load_of_levels(graph, balance))
    relieve(graph, UpDownRule(graph, order), affordable_passes(graph), balance, tables);
  return tables;
}

}  // namespace holdfast::fabric
