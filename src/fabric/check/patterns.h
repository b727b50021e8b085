#pragma once

#include <cstdint>
#include <vector>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// What adapters get of their cables' bandwidth when many send at once along these tables: means of the shares, from 0
/// to 1, of cables of one rate, when what goes over a channel shares it evenly (the static model of T. Schneider,
/// T. Hoefler, A. Lumsdaine, "ORCS: An Oblivious Routing Congestion Simulator", 2009).
struct PatternShares {
  double exchange = 0;   ///< shift by shift, each step as long as its fullest channel takes
  double bisection = 0;  ///< random halves, each adapter with its partner in the other half, both ways
};

struct PatternRules {
  std::uint32_t most_shifts = 256;  ///< of larger fabrics evenly drawn ones
  std::uint32_t bisections = 32;
  std::uint64_t seed = 1;
};

/// `hosts` are adapter ports with a LID and a working cable, in the order along which the exchange shifts. Pairs
/// without a route are left out. Time: pairs looked at times hops.
PatternShares measure_patterns(const Fabric& fabric, const Forwarding& tables, const std::vector<PortId>& hosts,
                               const PatternRules& rules = {});

}  // namespace holdfast::fabric
