#include "replicate/mpi/neighbours.h"

#include "real_functions.h"

namespace holdfast::replicate {

Neighbours neighbours(MPI_Comm comm) {
  Neighbours found;
  int topology = MPI_UNDEFINED;
  real().Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    int dimensions = 0;
    real().Cartdim_get(comm, &dimensions);
    found.in = found.out = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    real().Comm_rank(comm, &rank);
    real().Graph_neighbors_count(comm, rank, &found.in);
    found.out = found.in;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    real().Dist_graph_neighbors_count(comm, &found.in, &found.out, &weighted);
  }
  return found;
}

std::vector<bool> sending_neighbours(MPI_Comm comm) {
  std::vector<bool> there(static_cast<std::size_t>(neighbours(comm).in), true);
  int topology = MPI_UNDEFINED;
  real().Topo_test(comm, &topology);
  if (topology != MPI_CART) return there;
  for (std::size_t dimension = 0; 2 * dimension < there.size(); ++dimension) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    real().Cart_shift(comm, static_cast<int>(dimension), 1, &below, &above);
    there[2 * dimension] = below != MPI_PROC_NULL;
    there[2 * dimension + 1] = above != MPI_PROC_NULL;
  }
  return there;
}

}  // namespace holdfast::replicate
