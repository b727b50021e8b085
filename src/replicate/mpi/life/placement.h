#pragma once

#include <mpi.h>

namespace holdfast::replicate {

/// Whether ranks share hosts in another pattern in one replica than in another. MPI libraries combine operands within a
/// host first, so that floating-point reductions round alike only where the patterns are alike. `world` is this
/// replica's world, `team` has the replicas of this rank. Collective over all processes; the same answer in all.
bool placed_differently(MPI_Comm world, MPI_Comm team);

}  // namespace holdfast::replicate
