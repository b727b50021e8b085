#pragma once

#include <cstdint>

#include "fabric/topology/fabric.h"

/// How hard it is to cut the graph of switches and working switch-to-switch links in two (Domke et al., SC 2014,
/// section III-A, equations 1 and 2), by maximum flows.
namespace holdfast::fabric {

/// The fewest switches whose loss separates two others; one less than the number of switches when every two have a
/// link. 0 when the switches are not connected, or there are fewer than two. Parallel links count once.
/// Time: (result + 1) * switches flows (S. Even, "An Algorithm for Determining Whether the Connectivity of a Graph is
/// at Least k", 1975).
std::uint32_t vertex_connectivity(const Fabric& fabric);

/// The fewest switch-to-switch links whose loss separates two switches. Time: one flow a switch.
std::uint32_t edge_connectivity(const Fabric& fabric);

/// The longest of the shortest paths between two switches, in links; `none` when they are not connected. Time: one
/// search a switch.
std::uint32_t diameter(const Fabric& fabric);

}  // namespace holdfast::fabric
