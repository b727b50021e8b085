#include <algorithm>
#include <deque>

#include "fabric/routing/balance.h"
#include "fabric/routing/lanes.h"
#include "fabric/routing/native_engines.h"

namespace holdfast::fabric {
namespace {

/// Picks one arc a switch for each destination: nearer switches first, each the way whose arcs carry the fewest routes
/// a cable. With `spread`, it adds its own routes at once and the next switch sees them: more even, but more ways that
/// contradict one another. Without, all are added at the end, so that ways to one destination run together.
class ArcPicker {
 public:
  ArcPicker(const SwitchGraph& graph, bool spread)
      : graph_(graph), spread_(spread), load_(graph.arcs().size()), arc_(graph.rows()) {}

  /// `narrowed` gets the parallel channels of the arcs picked.
  void pick(const Choices& choices, Choices& narrowed) {
    const std::uint32_t destination = choices.order[0];
    narrowed.order = choices.order;
    narrowed.first.assign(2, 0);
    narrowed.channels.clear();
    for (std::size_t i = 1; i < choices.order.size(); ++i) {
      const std::uint32_t row = choices.order[i];
      std::uint32_t best = none;
      double least = 0;
      for (std::uint32_t at = choices.first[i]; at < choices.first[i + 1]; ++at) {
        const std::uint32_t id = graph_.channels()[choices.channels[at]].arc;
        if (id == best) continue;  // a parallel channel
        const double cost = cost_of(id, destination);
        if (best != none && cost >= least) continue;
        best = id;
        least = cost;
      }
      arc_[row] = best;
      if (spread_) add_routes(row, destination);
      const SwitchGraph::Arc& arc = graph_.arc(best);
      for (std::uint32_t channel = 0; channel < arc.channels; ++channel) {
        narrowed.channels.push_back(arc.first_channel + channel);
      }
      narrowed.first.push_back(static_cast<std::uint32_t>(narrowed.channels.size()));
    }
    if (spread_) return;
    for (std::size_t i = 1; i < choices.order.size(); ++i) add_routes(choices.order[i], destination);
  }

 private:
  void add_routes(std::uint32_t source, std::uint32_t destination) {
    const auto weight = static_cast<double>(graph_.terminals_at(destination).size()) * graph_.sources_at(source);
    for (std::uint32_t row = source; row != destination; row = graph_.arc(arc_[row]).to) {
      load_[arc_[row]] += weight / graph_.arc(arc_[row]).channels;
    }
  }

  double cost_of(std::uint32_t id, std::uint32_t destination) const {
    double cost = load_[id];
    for (std::uint32_t row = graph_.arc(id).to; row != destination; row = graph_.arc(arc_[row]).to)
      cost += load_[arc_[row]];
    return cost;
  }

  const SwitchGraph& graph_;
  bool spread_;
  std::vector<double> load_;        // by arc: routes a cable
  std::vector<std::uint32_t> arc_;  // by row, for the destination at hand
};

struct LashRoutes {
  Forwarding tables;
  std::size_t lanes = 0;
};

LashRoutes find_routes(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options, bool spread) {
  LashRoutes found;
  found.tables = graph.local_tables(fabric);
  Balance balance(graph);
  ArcPicker picker(graph, spread);
  Choices one_arc;
  const auto by_path = [](Balance& by, const Choices& among, bool counts) { by.pick_by_path(among, counts); };
  for_each_destination(graph, MinimalRule(graph), options.threads, [&](std::uint32_t row, const Choices& choices) {
    picker.pick(choices, one_arc);
    lay_routes(graph, row, one_arc, balance, found.tables, by_path);
    return true;
  });

  const ArcTables arcs(graph, found.tables);
  const DependencySpace space(graph);
  std::deque<AcyclicDependencies> lanes;
  lanes.emplace_back(space);
  std::vector<std::uint32_t> path;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (graph.terminals_at(row).empty()) continue;
    for (std::uint32_t source = 0; source < graph.rows(); ++source) {
      if (graph.sources_at(source) == 0 || row == source) continue;
      arcs.path(source, graph.terminals_at(row).front().lid, path);
      const unsigned lane = first_lane_for(space, path, lanes);
      if (lane == 0) continue;
      for (const SwitchGraph::Terminal& terminal : graph.terminals_at(row)) {
        found.tables.set_service_level(source, 0, terminal.lid, static_cast<std::uint8_t>(std::min(lane, 15U)));
      }
    }
  }
  found.lanes = lanes.size();
  return found;
}

}  // namespace

Result<Forwarding> route_lash(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  LashRoutes best = find_routes(fabric, graph, options, true);
  if (best.lanes > 1) {
    LashRoutes together = find_routes(fabric, graph, options, false);
    if (together.lanes < best.lanes) best = std::move(together);
  }
  if (best.lanes > options.lanes) return lanes_exhausted("lash", static_cast<unsigned>(best.lanes), options.lanes);
  best.tables.lanes_used = static_cast<std::uint8_t>(best.lanes);
  return std::move(best.tables);
}

}  // namespace holdfast::fabric
