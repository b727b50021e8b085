#pragma once

#include <mpi.h>

namespace holdfast::replicate {

/// How many neighbours send to this rank, and to how many it sends (MPI 3.1, section 7.6).
struct Neighbours {
  int in = 0;
  int out = 0;
};

/// Of a communicator with a topology; none without one.
Neighbours neighbours(MPI_Comm comm);

}  // namespace holdfast::replicate
