#pragma once

#include <cstdint>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {

/// The switches in an order that comes from how they are cabled and not from how they, their ports or their LIDs are
/// numbered: two fabrics that differ in numbers alone give two orders under which they are the same fabric. Rows, by
/// place.
///
/// Switches are parted by what can be told from one another: their hops above the adapters (the highest first), their
/// adapters and cables, and, until nothing changes, how many cables lead to each part (equitable partition; the smaller
/// halves alone are looked at again: J. Hopcroft, 1971; B. McKay, "Practical Graph Isomorphism", 1981). Where several
/// stay alike, one of the first part that has several is set apart as its first, and so on. Which one makes no
/// difference where they are symmetric, as they are in trees, tori and most fabrics that people plan; elsewhere, when
/// affordable, all are tried and the one is taken whose partition has the least fingerprint; otherwise those that have
/// cables to the fewest others, when that is affordable, or one of these.
///
/// What is near in the network comes near in the order: in a tree the roots that share their children, then their
/// children by that. So that all switches of a level meet the switches above in the same order. Time: cables times the
/// logarithm of switches.
std::vector<std::uint32_t> canonical_rows(const SwitchGraph& graph);

/// Switches in this order, all of them once, then adapters; the ports of each switch by their adapters' LIDs, then by
/// the place of the switch at the other end, then those without a working cable.
Renumbering renumbering_by(const Fabric& fabric, const SwitchGraph& graph, const std::vector<std::uint32_t>& rows);

/// The same in the order of canonical_rows().
Renumbering canonical_renumbering(const Fabric& fabric, const SwitchGraph& graph);

}  // namespace holdfast::fabric
