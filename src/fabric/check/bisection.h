#pragma once

#include <cstdint>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// Between which numbers the bisection width lies: the fewest working cables that must be cut to part the adapters
/// into halves (of sizes that differ by one at most). Finding it is NP-complete (M. Garey, D. Johnson, L. Stockmeyer,
/// 1976), so this gives bounds. Adapters' own cables can be cut too.
struct Bisection {
  std::uint64_t adapters = 0;  ///< ports with a working cable to a switch
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
};

/// Upper: the best cut met. Switches are ordered by the second eigenvector of the Laplacian (M. Fiedler, 1973), by
/// breadth-first search and as they come; each order is cut in the middle, and improved by moving one switch at a time
/// while that helps (after B. Kernighan, S. Lin, 1970). Where the adapters are then not halved, the cables of those
/// that must change sides count as cut.
///
/// Lower: let every adapter send one unit to every other along all shortest paths evenly. Over any bisection ceil(T/2)
/// * floor(T/2) units must pass each way, and no channel carries more than the fullest one does, so at least their
/// quotient of channels lead across (the argument of F. Leighton, S. Rao, JACM 46(6), 1999).
///
/// 0 for both when there are fewer than 2 adapters; a network in parts has lower bound 0. Time: about switches times
/// channels. Deterministic.
Bisection bound_bisection(const Fabric& fabric);

}  // namespace holdfast::fabric
