#pragma once

#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// J. Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree", SC 2019: see
/// parx.cc. Called by route() with options that it has checked.
Result<Forwarding> route_parx(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options);

}  // namespace holdfast::fabric
