#include <algorithm>

#include "fabric/routing/balance.h"
#include "fabric/routing/grid.h"
#include "fabric/routing/native_engines.h"

namespace holdfast::fabric {
namespace {

/// Of all shortest paths, those that finish one dimension before they begin the next. Off a grid, the arc with the
/// lowest port number, as OpenSM does: the same, where cabling is regular.
class DimensionOrderRule {
 public:
  DimensionOrderRule(const SwitchGraph& graph, const std::optional<Grid>& grid)
      : graph_(&graph), grid_(&grid), minimal_(graph) {}

  void choices_to(std::uint32_t destination, Choices& choices) {
    minimal_.choices_to(destination, all_);
    choices.order = all_.order;
    choices.first.assign(2, 0);
    choices.arcs.clear();
    for (std::size_t i = 1; i < all_.order.size(); ++i) {
      std::uint32_t first = none;
      for (std::uint32_t at = all_.first[i]; at < all_.first[i + 1]; ++at) first = std::min(first, rank(all_.arcs[at]));
      for (std::uint32_t at = all_.first[i]; at < all_.first[i + 1]; ++at) {
        if (rank(all_.arcs[at]) == first) choices.arcs.push_back(all_.arcs[at]);
      }
      choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
    }
  }

 private:
  /// The dimension of an arc; off a grid, the arc itself.
  std::uint32_t rank(std::uint32_t id) const {
    if (!*grid_) return id;
    const Grid& grid = **grid_;
    std::uint32_t d = 0;
    while (grid.at(graph_->arc(id).from, d) == grid.at(graph_->arc(id).to, d)) ++d;
    return d;
  }

  const SwitchGraph* graph_;
  const std::optional<Grid>* grid_;
  MinimalRule minimal_;
  Choices all_;
};

}  // namespace

Result<Forwarding> route_dor(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  const std::optional<Grid> grid = find_grid(fabric, graph);
  Forwarding tables = graph.local_tables(fabric);
  Balance balance(graph);
  const DimensionOrderRule rule(graph, grid);
  for_each_destination(scattered_rows(graph), rule, options.threads, [&](std::uint32_t row, const Choices& choices) {
    lay_routes(graph, row, choices, balance, tables);
    return true;
  });
  return tables;
}

}  // namespace holdfast::fabric
