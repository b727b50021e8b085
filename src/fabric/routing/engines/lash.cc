#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "fabric/routing/engines/balance.h"
#include "fabric/routing/engines/dimension_order.h"
#include "fabric/routing/engines/dragonfly_groups.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/up_down_order.h"
#include "fabric/routing/graph/canonical_order.h"

namespace holdfast::fabric {
namespace {

/// How one arc is picked a switch for each destination, nearer switches first.
enum class Ways : std::uint8_t {
  spread,    ///< the way whose arcs carry the fewest routes a cable, those of switches before it counted: even
  together,  ///< the same, those to other destinations counted: ways to one destination run together
  straight,  ///< dimension order, which makes few dependencies; a Dragonfly's groups first; else the lowest port's arc
};

class ArcPicker {
 public:
  ArcPicker(const SwitchGraph& graph, Ways ways)
      : graph_(graph), ways_(ways), load_(graph.arcs().size()), arc_(graph.rows()) {}

  /// `narrowed` gets the arcs picked.
  void pick(const Choices& choices, Choices& narrowed) {
    const std::uint32_t destination = choices.order[0];
    narrowed.order = choices.order;
    narrowed.first.assign(2, 0);
    narrowed.arcs.clear();
    for (std::size_t i = 1; i < choices.order.size(); ++i) {
      const std::uint32_t row = choices.order[i];
      std::uint32_t best = choices.arcs[choices.first[i]];
      double least = ways_ == Ways::straight ? 0 : cost_of(best, destination);
      const std::uint32_t end = ways_ == Ways::straight ? choices.first[i] : choices.first[i + 1];
      for (std::uint32_t at = choices.first[i] + 1; at < end; ++at) {
        const std::uint32_t id = choices.arcs[at];
        const double cost = cost_of(id, destination);
        if (cost >= least) continue;
        best = id;
        least = cost;
      }
      arc_[row] = best;
      if (ways_ == Ways::spread) add_routes(row, destination);
      narrowed.arcs.push_back(best);
      narrowed.first.push_back(static_cast<std::uint32_t>(narrowed.arcs.size()));
    }
    if (ways_ != Ways::together) return;
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
  Ways ways_;
  std::vector<double> load_;        // by arc: routes a cable
  std::vector<std::uint32_t> arc_;  // by row, for the destination at hand
};

struct LashRoutes {
  Forwarding tables;
  std::size_t lanes = 0;
  std::uint64_t largest_load = 0;

  /// That more lanes than `there` are needed outweighs all. Otherwise a lane must be worth itself: the square of the
  /// fullest load times the lanes is least, so that a second lane pays where it takes 30 % off the fullest channel.
  bool better_than(const LashRoutes& other, std::size_t there) const {
    if (lanes > there || other.lanes > there) return lanes < other.lanes;
    const auto cost = [](const LashRoutes& of) {
      const auto load = static_cast<double>(of.largest_load);
      return load * load * static_cast<double>(of.lanes);
    };
    return cost(*this) != cost(other) ? cost(*this) < cost(other) : lanes < other.lanes;
  }
};

DimensionOrderRule straight_rule(const Fabric& fabric, const SwitchGraph& graph, const std::optional<Grid>& grid) {
  const auto groups = grid ? std::nullopt : find_dragonfly_groups(fabric, graph);
  return {graph, grid, groups ? groups->of_row : std::vector<std::uint32_t>()};
}

LashRoutes find_routes(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options, Ways ways) {
  LashRoutes found;
  found.tables = graph.local_tables(fabric, options.threads);
  Balance balance(graph);
  ArcPicker picker(graph, ways);
  Choices one_arc;
  const auto lay = [&](std::uint32_t row, const Choices& choices) {
    picker.pick(choices, one_arc);
    lay_routes(graph, row, one_arc, balance, found.tables);
    return true;
  };
  const std::vector<std::uint32_t> rows = scattered_rows(graph);
  if (ways == Ways::straight)
    for_each_destination(rows, straight_rule(fabric, graph, options.grid), options.threads, lay);
  else
    for_each_destination(rows, MinimalRule(graph), options.threads, lay);
  found.largest_load = balance.largest_load();

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

/// Of all ways the best one.
LashRoutes find_best_way(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  LashRoutes best = find_routes(fabric, graph, options, Ways::spread);
  for (const Ways ways : {Ways::together, Ways::straight}) {
    if (best.lanes == 1 && affordable_passes(graph) == 0) break;  // small fabrics are routed all three ways
    LashRoutes other = find_routes(fabric, graph, options, ways);
    if (other.better_than(best, options.lanes)) best = std::move(other);
  }
  return best;
}

/// Other orders of the switches that come from the cables, given one that does: by their distance from the first one,
/// from branch to branch, line by line of a grid.
std::vector<std::vector<std::uint32_t>> other_orders(const SwitchGraph& graph, const std::optional<Grid>& grid) {
  std::vector<std::vector<std::uint32_t>> orders;
  orders.push_back(order_by(graph, std::vector<std::uint32_t>(graph.rows(), 0)).rows);
  orders.push_back(depth_first_order(graph, 0).rows);
  if (grid) {
    std::vector<std::uint32_t> lines(graph.rows());
    std::iota(lines.begin(), lines.end(), 0U);
    std::stable_sort(lines.begin(), lines.end(), [&](std::uint32_t a, std::uint32_t b) {
      std::uint32_t d = 0;
      while (d + 1 < grid->dimensions() && grid->at(a, d) == grid->at(b, d)) ++d;
      return grid->at(a, d) < grid->at(b, d);
    });
    orders.push_back(std::move(lines));
  }
  return orders;
}

/// As on a fabric whose switches are listed in this order; the tables have the numbers of the fabric given.
LashRoutes find_in_order(const Fabric& fabric, const SwitchGraph& graph, EngineOptions options,
                         const std::vector<std::uint32_t>& rows) {
  const Renumbering numbers = renumbering_by(fabric, graph, rows);
  const Fabric listed = renumber(fabric, numbers);
  if (options.grid) {
    std::vector<std::uint32_t> place;
    for (const std::uint32_t row : rows) {
      for (std::uint32_t d = 0; d < options.grid->dimensions(); ++d) place.push_back(options.grid->at(row, d));
    }
    options.grid->place = std::move(place);
  }
  LashRoutes found = find_best_way(listed, SwitchGraph(listed), options);
  found.tables = std::move(found.tables).numbered_as(fabric, numbers, options.threads);
  return found;
}

}  // namespace

Result<Forwarding> route_lash(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& given) {
  EngineOptions options = given;
  if (!options.grid) options.grid = find_grid(fabric, graph);
  LashRoutes best = find_best_way(fabric, graph, options);
  if (affordable_passes(graph) != 0) {
    for (const std::vector<std::uint32_t>& rows : other_orders(graph, options.grid)) {
      LashRoutes other = find_in_order(fabric, graph, options, rows);
      if (other.better_than(best, options.lanes)) best = std::move(other);
    }
  }
  if (best.lanes > options.lanes) return lanes_exhausted("lash", static_cast<unsigned>(best.lanes), options.lanes);
  best.tables.lanes_used = static_cast<std::uint8_t>(best.lanes);
  return std::move(best.tables);
}

}  // namespace holdfast::fabric
