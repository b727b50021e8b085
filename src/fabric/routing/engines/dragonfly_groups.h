#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// The groups of a Dragonfly (Kim et al., ISCA 2008) or Dragonfly+ (Shpiner et al., HiPINEB 2017).
struct DragonflyGroups {
  std::vector<std::uint32_t> of_row;
  std::uint32_t count = 0;
};

/// Finds the groups in the cables, dead ones included, so that failures move nobody. Where some switches have no
/// adapters, a group is what cables from switches with adapters join; otherwise two switches are in one group when they
/// have at least half as many common neighbours as any two joined switches have, and all of a group must be joined.
/// Nothing when that gives fewer than two groups, or two that no cable joins. Groups of one or two routers cannot be
/// told from their cables.
std::optional<DragonflyGroups> find_dragonfly_groups(const Fabric& fabric, const SwitchGraph& graph);

}  // namespace holdfast::fabric
