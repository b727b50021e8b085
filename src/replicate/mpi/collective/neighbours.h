#pragma once

#include <mpi.h>

#include <vector>

#include "replicate/mpi/context/comms.h"

namespace holdfast::replicate {

/// How many neighbours send to this rank, and to how many it sends (MPI 3.1, section 7.6).
struct Neighbours {
  int in = 0;
  int out = 0;
};

/// Of a communicator with a topology; none without one.
Neighbours neighbours(MPI_Comm comm);

/// A neighbour, and the place of its block in the buffer.
struct Neighbour {
  int rank;
  int block;
};
/// The neighbours that are there, each as often as it is one. The n-th block that a rank sends to another in the order
/// of `out` is the n-th that it takes from there in the order of `in`. In a grid a rank may be the neighbour on both
/// sides: what was sent down comes from above (MPI 4.1, section 8.6; the libraries differ, and each among its
/// functions).
struct NeighbourLists {
  std::vector<Neighbour> in;
  std::vector<Neighbour> out;
};

/// A communicator's topology, which stays as it is made.
struct Topology {
  bool any = false;
  NeighbourLists neighbours;
  /// Of each neighbour, in the order of the blocks that it sends, whether it is there: at the edge of a Cartesian grid
  /// MPI_PROC_NULL stands for one (section 7.6), and its block is not written.
  std::vector<bool> sending;
};
/// MPI is asked once for each communicator.
const Topology& topology_of(Comm& comm);

}  // namespace holdfast::replicate
