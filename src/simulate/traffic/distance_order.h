#pragma once

#include <cstdint>
#include <vector>

#include "fabric/topology/fabric.h"
#include "simulate/packet/hosts.h"

namespace holdfast::simulate {

/// An order of all hosts in which neighbours are few hops apart: the hosts of a switch stand together, and after them
/// come those of the nearest switch that has not been visited (breadth first from the last one, the lowest node number
/// among equals). The exchange pattern shifts along it (Fail-in-place networks, section IV-C2: the nearest first; the
/// paper does not print its algorithm). Hosts without a working cable come last. O(switches x links) at worst.
std::vector<std::uint32_t> distance_order(const fabric::Fabric& fabric, const Hosts& hosts);

}  // namespace holdfast::simulate
