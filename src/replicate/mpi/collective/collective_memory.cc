#include "replicate/mpi/collective/collective_memory.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "real_functions.h"
#include "replicate/mpi/collective/neighbours.h"

namespace holdfast::replicate {

namespace {

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (type != MPI_DATATYPE_NULL) real().Type_get_extent(type, &lower, &extent);  // without one, MPI refuses the call
  return extent;
}

const void* at(const void* buffer, MPI_Aint bytes) {
  return static_cast<const std::byte*>(buffer) + bytes;
}

/// The first block that a neighbour gets and `wanted` holds of; -1 without one.
template <class Wanted>
int first_given(Collective& call, Wanted wanted) {
  int first = -1;
  for (const Neighbour& to : topology_of(call.comm()).neighbours.out)
    if (wanted(to.block) && (first < 0 || to.block < first)) first = to.block;
  return first;
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

void input_gathered(Collective& call, const void* sb, int sc, MPI_Datatype st, const void* rb, int rc,
                    MPI_Datatype rt) {
  if (sb != MPI_IN_PLACE) return call.input(sb, size_of(sc), st);
  call.input(at(rb, extent_of(rt) * rc * call.comm().rank), size_of(rc), rt);
}

void input_gathered(Collective& call, const void* sb, int sc, MPI_Datatype st, const void* rb, const int* rc,
                    const int* rd, MPI_Datatype rt) {
  if (sb != MPI_IN_PLACE) return call.input(sb, size_of(sc), st);
  const int own = call.comm().rank;
  call.input(at(rb, extent_of(rt) * rd[own]), size_of(rc[own]), rt);
}

void input_exchanged(Collective& call, const void* sb, int sc, MPI_Datatype st, const void* rb, int rc,
                     MPI_Datatype rt) {
  const bool in_place = sb == MPI_IN_PLACE;
  call.input(in_place ? rb : sb, size_of(in_place ? rc : sc) * size_of(call.size()), in_place ? rt : st);
}

void input_block(Collective& call, const void* buffer, const int* counts, const int* displacements, MPI_Datatype type) {
  const MPI_Aint extent = extent_of(type);
  for (int i = 0; i < call.size(); ++i) {
    if (counts[i] == 0) continue;
    return call.input(at(buffer, displacements[i] * extent), size_of(counts[i]), type);
  }
}

void input_block(Collective& call, const void* buffer, const int* counts, const int* displacements,
                 const MPI_Datatype* types) {
  for (int i = 0; i < call.size(); ++i) {
    if (counts[i] == 0) continue;
    return call.input(at(buffer, displacements[i]), size_of(counts[i]), types[i]);
  }
}

void to_neighbours(Collective& call, const void* buffer, int count, MPI_Datatype type) {
  const int block = first_given(call, [](int) { return true; });
  if (block >= 0) call.input(at(buffer, extent_of(type) * count * block), size_of(count), type);
}

void to_neighbours(Collective& call, const void* buffer, const int* counts, const int* displacements,
                   MPI_Datatype type) {
  const int block = first_given(call, [&](int i) { return counts[i] != 0; });
  if (block >= 0) call.input(at(buffer, extent_of(type) * displacements[block]), size_of(counts[block]), type);
}

void to_neighbours(Collective& call, const void* buffer, const int* counts, const MPI_Aint* displacements,
                   const MPI_Datatype* types) {
  const int block = first_given(call, [&](int i) { return counts[i] != 0; });
  if (block >= 0) call.input(at(buffer, displacements[block]), size_of(counts[block]), types[block]);
}

void from_neighbours(Collective& call, void* buffer, int count, MPI_Datatype type) {
  const std::vector<bool>& there = topology_of(call.comm()).sending;
  call.topology(topology_of(call.comm()).any);
  if (std::find(there.begin(), there.end(), false) == there.end()) {
    call.output(buffer, count < 0 ? Collective::no_count : size_of(count) * there.size(), type, there.size());
    return;
  }
  const MPI_Aint step = extent_of(type) * count;
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) call.output(static_cast<std::byte*>(buffer) + static_cast<MPI_Aint>(i) * step, size_of(count), type);
  }
}

void from_neighbours(Collective& call, void* buffer, const int* counts, const int* displacements, MPI_Datatype type) {
  const std::vector<bool>& there = topology_of(call.comm()).sending;
  call.topology(topology_of(call.comm()).any);
  const MPI_Aint extent = extent_of(type);
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) call.output(static_cast<std::byte*>(buffer) + displacements[i] * extent, size_of(counts[i]), type);
  }
}

void from_neighbours(Collective& call, void* buffer, const int* counts, const MPI_Aint* displacements,
                     const MPI_Datatype* types) {
  const std::vector<bool>& there = topology_of(call.comm()).sending;
  call.topology(topology_of(call.comm()).any);
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i]) call.output(static_cast<std::byte*>(buffer) + displacements[i], size_of(counts[i]), types[i]);
  }
}

}  // namespace holdfast::replicate
