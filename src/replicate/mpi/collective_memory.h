#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "replicate/mpi/collective.h"

namespace holdfast::replicate {

/// A count as a number of elements; zero for a negative one, which MPI itself refuses.
std::uint64_t size_of(int count);
std::uint64_t sum(const int* counts, int n);

/// Whether this rank gives something to a rooted collective, or takes something: all of an intracommunicator, the group
/// opposite the root of an intercommunicator.
bool contributes(Collective& call, int root);
bool receives(Collective& call, int root);

/// The injector's target in a v-variant: the first block that is not empty.
void input_block(Collective& call, const void* buffer, const int* counts, const int* displacements, MPI_Datatype type);

/// Result blocks with a datatype each: block i at buffer + displacements[i] bytes.
template <class Displacement>
void outputs_each(Collective& call, void* buffer, const int* counts, const Displacement* displacements,
                  const MPI_Datatype* types, int blocks) {
  for (int i = 0; i < blocks; ++i) {
    call.output(static_cast<std::byte*>(buffer) + displacements[i], size_of(counts[i]), types[i]);
  }
}

/// Result blocks of a neighbourhood collective, one for each neighbour that sends to this rank: those of the neighbours
/// that a Cartesian grid lacks at its edges are the application's, with whatever they held. Blocks of equal length one
/// after the other; block i at displacements[i] extents; and at displacements[i] bytes, with a datatype each.
void from_neighbours(Collective& call, void* buffer, int count, MPI_Datatype type, MPI_Comm comm);
void from_neighbours(Collective& call, void* buffer, const int* counts, const int* displacements, MPI_Datatype type,
                     MPI_Comm comm);
void from_neighbours(Collective& call, void* buffer, const int* counts, const MPI_Aint* displacements,
                     const MPI_Datatype* types, MPI_Comm comm);

}  // namespace holdfast::replicate
