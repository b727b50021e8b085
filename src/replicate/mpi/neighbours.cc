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

}  // namespace holdfast::replicate
