#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "replicate/mpi/collective/collective.h"

namespace holdfast::replicate {

/// A count as a number of elements; Collective::no_count for a negative one, which MPI itself refuses.
std::uint64_t size_of(int count);
std::uint64_t sum(const int* counts, int n);

/// Whether this rank gives something to a rooted collective, or takes something: all of an intracommunicator, the group
/// opposite the root of an intercommunicator.
bool contributes(Collective& call, int root);
bool receives(Collective& call, int root);

/// The injector's target where every rank gives one block and all blocks are gathered: the send buffer, or in place
/// this rank's block of the receive buffer (MPI 3.1, sections 5.5 and 5.7).
void input_gathered(Collective& call, const void* sb, int sc, MPI_Datatype st, const void* rb, int rc, MPI_Datatype rt);
void input_gathered(Collective& call, const void* sb, int sc, MPI_Datatype st, const void* rb, const int* rc,
                    const int* rd, MPI_Datatype rt);
/// The injector's target in a v-variant: the first block that is not empty.
void input_block(Collective& call, const void* buffer, const int* counts, const int* displacements, MPI_Datatype type);
/// The same of blocks with a datatype each: block i at buffer + displacements[i] bytes.
void input_block(Collective& call, const void* buffer, const int* counts, const int* displacements,
                 const MPI_Datatype* types);

/// Where each rank gives a block to every other: the send buffer, all of it or its first block that is not empty, or in
/// place what the receive buffer holds (section 5.8).
void input_exchanged(Collective& call, const void* sb, int sc, MPI_Datatype st, const void* rb, int rc,
                     MPI_Datatype rt);
template <class Types>
void input_exchanged(Collective& call, const void* sb, const int* sc, const int* sd, Types st, const void* rb,
                     const int* rc, const int* rd, Types rt) {
  sb == MPI_IN_PLACE ? input_block(call, rb, rc, rd, rt) : input_block(call, sb, sc, sd, st);
}

/// The injector's target in a neighbourhood collective that gives each neighbour a block: the first one that is not
/// empty and goes to a neighbour that is there. Blocks of equal length one after the other; block i at displacements[i]
/// extents; and at displacements[i] bytes, with a datatype each.
void to_neighbours(Collective& call, const void* buffer, int count, MPI_Datatype type);
void to_neighbours(Collective& call, const void* buffer, const int* counts, const int* displacements,
                   MPI_Datatype type);
void to_neighbours(Collective& call, const void* buffer, const int* counts, const MPI_Aint* displacements,
                   const MPI_Datatype* types);

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
void from_neighbours(Collective& call, void* buffer, int count, MPI_Datatype type);
void from_neighbours(Collective& call, void* buffer, const int* counts, const int* displacements, MPI_Datatype type);
void from_neighbours(Collective& call, void* buffer, const int* counts, const MPI_Aint* displacements,
                     const MPI_Datatype* types);

}  // namespace holdfast::replicate
