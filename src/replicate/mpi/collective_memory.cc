#include "replicate/mpi/collective_memory.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "real_functions.h"
#include "replicate/mpi/neighbours.h"

namespace holdfast::replicate {

namespace {

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  real().Type_get_extent(type, &lower, &extent);
  return extent;
}

}  // namespace

std::uint64_t size_of(int count) {
  return count < 0 ? Collective::no_count : static_cast<std::uint64_t>(count);
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
  const MPI_Aint extent = extent_of(type);
  for (int i = 0; i < call.size(); ++i) {
    if (counts[i] == 0) continue;
    call.input(static_cast<const std::byte*>(buffer) + displacements[i] * extent, size_of(counts[i]), type);
    return;
  }
}

void from_neighbours(Collective& call, void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
  call.topology(has_topology(comm));
  const std::vector<bool> there = sending_neighbours(comm);
  if (std::find(there.begin(), there.end(), false) == there.end()) {
    call.output(buffer, count < 0 ? Collective::no_count : size_of(count) * there.size(), type);
    return;
  }
  const MPI_Aint step = extent_of(type) * count;
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) call.output(static_cast<std::byte*>(buffer) + static_cast<MPI_Aint>(i) * step, size_of(count), type);
  }
}

void from_neighbours(Collective& call, void* buffer, const int* counts, const int* displacements, MPI_Datatype type,
                     MPI_Comm comm) {
  call.topology(has_topology(comm));
  const std::vector<bool> there = sending_neighbours(comm);
  const MPI_Aint extent = extent_of(type);
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) call.output(static_cast<std::byte*>(buffer) + displacements[i] * extent, size_of(counts[i]), type);
  }
}

void from_neighbours(Collective& call, void* buffer, const int* counts, const MPI_Aint* displacements,
                     const MPI_Datatype* types, MPI_Comm comm) {
  call.topology(has_topology(comm));
  const std::vector<bool> there = sending_neighbours(comm);
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) call.output(static_cast<std::byte*>(buffer) + displacements[i], size_of(counts[i]), types[i]);
  }
}

}  // namespace holdfast::replicate
