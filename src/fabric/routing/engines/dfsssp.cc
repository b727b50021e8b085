#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/up_down_tables.h"

namespace holdfast::fabric {
namespace {

constexpr unsigned any_number = 255;

}  // namespace

/// Balanced paths, or those of dimension order, whose dependencies are few: first where they are as even (on whole
/// tori), otherwise when the balanced ones need too many lanes.
Result<Forwarding> route_dfsssp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  EvenTables balanced = lay_shortest_paths(fabric, graph, options.threads);
  Forwarding* chosen = &balanced.tables;
  EvenTables straight;
  unsigned needed = 1;
  if (!know_if_up_down(graph, balanced.tables, options.threads) &&
      !is_acyclic(graph, balanced.tables, options.threads)) {
    straight = lay_in_dimension_order(fabric, graph, options);
    std::array<Forwarding*, 2> tries = {&balanced.tables, &straight.tables};
    if (straight.largest_load <= balanced.largest_load) std::swap(tries[0], tries[1]);
    chosen = tries[0];
    needed = assign_lanes(graph, *chosen, options.lanes, options.lanes);
    if (needed > options.lanes) {
      chosen = tries[1];
      needed = assign_lanes(graph, *chosen, any_number, options.lanes);
      if (needed > options.lanes) return lanes_exhausted("dfsssp", needed, options.lanes);
    }
  }
  chosen->lanes_needed = static_cast<std::uint8_t>(needed);
  spread_over_lanes(graph, *chosen, options.lanes, options.threads);
  return std::move(*chosen);
}

}  // namespace holdfast::fabric
