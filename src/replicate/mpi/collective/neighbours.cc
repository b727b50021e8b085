#include "replicate/mpi/collective/neighbours.h"

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

namespace {

void add(std::vector<Neighbour>& list, int rank, int block) {
  if (rank != MPI_PROC_NULL) list.push_back({rank, block});
}

void add_all(std::vector<Neighbour>& list, const std::vector<int>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) add(list, ranks[i], static_cast<int>(i));
}

NeighbourLists in_grid(MPI_Comm comm, int dimensions) {
  NeighbourLists lists;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    real().Cart_shift(comm, dimension, 1, &below, &above);
    add(lists.in, below, 2 * dimension);
    add(lists.in, above, 2 * dimension + 1);
    add(lists.out, above, 2 * dimension + 1);
    add(lists.out, below, 2 * dimension);
  }
  return lists;
}

NeighbourLists lists_of(MPI_Comm comm, int topology, const Neighbours& count) {
  if (topology == MPI_CART) return in_grid(comm, count.in / 2);
  std::vector<int> in(static_cast<std::size_t>(count.in));
  std::vector<int> out(static_cast<std::size_t>(count.out));
  if (topology == MPI_GRAPH) {
    int rank = 0;
    real().Comm_rank(comm, &rank);
    real().Graph_neighbors(comm, rank, count.in, in.data());
    out = in;
  } else if (topology == MPI_DIST_GRAPH) {
    std::vector<int> weights(in.size() + out.size());
    real().Dist_graph_neighbors(comm, count.in, in.data(), weights.data(), count.out, out.data(),
                                weights.data() + in.size());
  }
  NeighbourLists lists;
  add_all(lists.in, in);
  add_all(lists.out, out);
  return lists;
}

std::shared_ptr<const Topology> describe(MPI_Comm comm) {
  auto found = std::make_shared<Topology>();
  int topology = MPI_UNDEFINED;
  real().Topo_test(comm, &topology);
  const Neighbours count = neighbours(comm);
  found->any = topology != MPI_UNDEFINED;
  found->neighbours = lists_of(comm, topology, count);
  found->sending.resize(static_cast<std::size_t>(count.in), topology != MPI_CART);
  if (topology == MPI_CART)
    for (const Neighbour& from : found->neighbours.in) found->sending[static_cast<std::size_t>(from.block)] = true;
  return found;
}

}  // namespace

const Topology& topology_of(Comm& comm) {
  if (!comm.topology) comm.topology = describe(comm.handle);
  return *comm.topology;
}

}  // namespace holdfast::replicate
