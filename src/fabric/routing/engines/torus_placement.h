#pragma once

#include "core/status/status.h"
#include "fabric/formats/opensm_config.h"
#include "fabric/routing/graph/grid.h"

namespace holdfast::fabric {

/// Where torus-2QoS.conf puts each switch: from a seed on, the only switch whose cables, dead ones included, fit beside
/// those already placed takes a place, as torus-2QoS(8), TOPOLOGY DISCOVERY, describes it. Coordinates are as the
/// file's datelines want them. Seeds are tried in turn, and where cables are missing altogether, so are places for
/// those cables.
///
/// Unlike find_grid(), this tells a ring of four from two dimensions of two, and keeps the names and directions of the
/// dimensions, so that service levels are those that OpenSM gives with this file.
///
/// Error (bad_input): from no seed do all switches find a place; it says which one did not.
Result<Grid> place_on_torus(const Fabric& fabric, const SwitchGraph& graph, const TorusConfig& config);

}  // namespace holdfast::fabric
