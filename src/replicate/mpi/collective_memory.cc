#include "replicate/mpi/collective_memory.h"

#include <algorithm>
#include <numeric>

#include "real_functions.h"
#include "replicate/mpi/neighbours.h"

namespace holdfast::replicate {

std::uint64_t size_of(int count) {
  return static_cast<std::uint64_t>(std::max(count, 0));
}

std::uint64_t sum(const int* counts, int n) {
  return std::accumulate(counts, counts + n, std::uint64_t{0});
}

bool contributes(Collective& call, int root) {
  return !call.inter() || (root != MPI_ROOT && root != MPI_PROC_NULL);
}
bool receives(Collective& call, int root) {
  return contributes(call, root);
}

void input_block(Collective& call, const void* buffer, const int* counts, const int* displacements, MPI_Datatype type) {
  if (buffer == MPI_IN_PLACE) return;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  real().Type_get_extent(type, &lower, &extent);
  for (int i = 0; i < call.size(); ++i) {
    if (counts[i] == 0) continue;
    call.input(static_cast<const std::byte*>(buffer) + displacements[i] * extent, size_of(counts[i]), type);
    return;
  }
}

int in_neighbours(MPI_Comm comm) {
  return neighbours(comm).in;
}

}  // namespace holdfast::replicate
