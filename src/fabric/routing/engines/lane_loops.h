#pragma once

#include <string>
#include <vector>

#include "fabric/routing/graph/lane_dependencies.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// Arcs on lanes whose buffers the routes between adapters can fill so that they wait for one another in a circle;
/// empty where no traffic can. For engines whose service levels and lane maps change lanes on the way (fewer than
/// LaneDependencies::most_lanes of them) and treat all adapter ports of a switch alike, when failures may have broken
/// the rule that keeps them free of loops. `threads` as in EngineOptions.
std::vector<LaneOfArc> find_lane_loop(const Fabric& fabric, const SwitchGraph& graph, const Forwarding& tables,
                                      unsigned threads);

/// "lane 0: A -> B -> C, lane 1: D -> A", by the names of switches.
std::string text_of(const Fabric& fabric, const SwitchGraph& graph, const std::vector<LaneOfArc>& loop);

}  // namespace holdfast::fabric
