#pragma once

#include <cstdint>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// What a subnet manager would have to write to go from one routing to another.
struct Changes {
  std::uint64_t entries = 0;   ///< forwarding entries of LIDs in use, over all switches
  std::uint64_t changed = 0;   ///< of them, how many differ
  std::uint64_t switches = 0;  ///< switches with at least one that differs
  std::uint64_t blocks = 0;    ///< 64-entry blocks, the unit of a write (IBA 1.3, 14.2.5.10)
  std::uint64_t levels = 0;    ///< (switch or adapter, LID) service levels that differ: paths to be queried again
};

/// Both tables belong to this fabric or to copies of it with other links down. Entries of LIDs that nothing has are not
/// counted.
Changes compare_tables(const Fabric& fabric, const Forwarding& before, const Forwarding& after);

}  // namespace holdfast::fabric
