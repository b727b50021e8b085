#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// Switches on a HyperX of two dimensions (J. Ahn et al., "HyperX: Topology, Routing, and Packaging of Efficient
/// Large-Scale Networks", SC 2009): those of a line are all joined.
struct HyperXPlane {
  std::array<std::uint32_t, 2> size = {};
  std::vector<std::array<std::uint32_t, 2>> place;  ///< by row
};

/// Finds it in the cables, dead ones included: neighbours of a switch are joined to one another if they lie on one line
/// with it, and not otherwise. Nothing when the cables are not those of a whole HyperX with lines of at least 2 and 3.
std::optional<HyperXPlane> find_hyperx_plane(const Fabric& fabric, const SwitchGraph& graph);

}  // namespace holdfast::fabric
