#pragma once

#include "fabric/formats/notes.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// Notes LIDs that two ports have, those of their LMC included, and LIDs for multicast (InfiniBand Architecture
/// Specification 1.3, 4.1.3), unless the fabric needs more LIDs than a subnet has, as generated ones may.
void note_odd_lids(const Fabric& fabric, Notes& notes);

}  // namespace holdfast::fabric
