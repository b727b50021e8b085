#pragma once

#include <mpi.h>

#include <vector>

namespace holdfast::replicate {

/// How many neighbours send to this rank, and to how many it sends (MPI 3.1, section 7.6).
struct Neighbours {
  int in = 0;
  int out = 0;
};

/// Of a communicator with a topology; none without one.
Neighbours neighbours(MPI_Comm comm);

/// Of each neighbour, in the order of the blocks that it sends, whether it is there: at the edge of a Cartesian grid
/// MPI_PROC_NULL stands for one (section 7.6), and its block is not written.
std::vector<bool> sending_neighbours(MPI_Comm comm);

}  // namespace holdfast::replicate
