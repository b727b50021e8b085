#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The level of every switch of a tree, by NodeId: 0 for those with hosts, one more than the lowest neighbour for the
/// others; 0 for adapters. Nothing when the working links do not form a tree's levels: a link within a level or across
/// one, switches out of reach of hosts, or no switch without hosts.
std::optional<std::vector<std::uint32_t>> tree_levels(const Fabric& fabric);

/// The switches of a tree that have none above them, in the order of ids: where up*/down* routing starts. Empty when
/// the fabric is no tree.
std::vector<NodeId> tree_roots(const Fabric& fabric);

}  // namespace holdfast::fabric
