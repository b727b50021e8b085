#include <bit>
#include <initializer_list>
#include <span>

#include "simulate/job/collective.h"

/// Open MPI 4.1's fixed decisions. A table has rows for communicators of fewer ranks than so many, and in each the
/// algorithm for fewer bytes than so many; the last of either stands for all above.
namespace holdfast::simulate::job {
namespace {

using enum Algorithm;

struct BySize {
  std::uint64_t below;
  Algorithm algorithm;
};
struct ByRanks {
  std::uint32_t below;
  std::initializer_list<BySize> sizes;
};
using Table = std::span<const ByRanks>;

constexpr std::uint64_t any = ~std::uint64_t{0};
constexpr std::uint32_t all = ~std::uint32_t{0};
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

Algorithm look_up(Table table, std::uint32_t ranks, std::uint64_t bytes) {
  for (const ByRanks& row : table) {
    if (ranks >= row.below && row.below != all) continue;
    for (const BySize& entry : row.sizes)
      if (bytes < entry.below || entry.below == any) return entry.algorithm;
  }
  return linear;
}

// A segmented ring without a segment's size is a ring, a pipeline without one a chain, and chains without their number
// are one; so these stand here as what they are.

Table allreduce_table() {
  static const ByRanks rows[] = {
      {4,
       {{8, ring},
        {4 * kib, recursive_doubling},
        {8 * kib, ring},
        {16 * kib, recursive_doubling},
        {256 * kib, ring},
        {any, rabenseifner}}},
      {8, {{16, ring}, {8 * kib, recursive_doubling}, {any, rabenseifner}}},
      {16, {{8 * kib, recursive_doubling}, {any, rabenseifner}}},
      {32, {{64, ring}, {4 * kib, recursive_doubling}, {any, rabenseifner}}},
      {64, {{128, ring}, {any, rabenseifner}}},
      {128, {{256 * kib, recursive_doubling}, {any, rabenseifner}}},
      {256, {{128 * kib, reduce_bcast}, {256 * kib, recursive_doubling}, {any, rabenseifner}}},
      {512, {{4 * kib, reduce_bcast}, {any, rabenseifner}}},
      {2048, {{2 * kib, reduce_bcast}, {16 * kib, recursive_doubling}, {any, rabenseifner}}},
      {4096, {{2 * kib, reduce_bcast}, {4 * kib, ring}, {16 * kib, recursive_doubling}, {any, rabenseifner}}},
      {all, {{2 * kib, reduce_bcast}, {16 * kib, ring}, {32 * kib, recursive_doubling}, {any, ring}}}};
  return rows;
}

Table alltoall_table() {
  constexpr Algorithm together = linear_at_once, synchronous = linear_synchronous;
  static const ByRanks rows[] = {
      {3,
       {{2, pairwise},
        {4, exchange},
        {16, pairwise},
        {64, exchange},
        {256, pairwise},
        {4 * kib, exchange},
        {32 * kib, pairwise},
        {256 * kib, synchronous},
        {mib, exchange},
        {any, pairwise}}},
      {8,
       {{8 * kib, synchronous},
        {16 * kib, together},
        {64 * kib, synchronous},
        {512 * kib, together},
        {mib, pairwise},
        {any, together}}},
      {16, {{256 * kib, synchronous}, {any, together}}},
      {32,
       {{4, synchronous},
        {512, bruck},
        {8 * kib, synchronous},
        {32 * kib, together},
        {256 * kib, synchronous},
        {512 * kib, together},
        {any, synchronous}}},
      {64, {{512, bruck}, {512 * kib, together}, {any, synchronous}}},
      {128, {{kib, bruck}, {2 * kib, together}, {4 * kib, synchronous}, {256 * kib, together}, {any, pairwise}}},
      {256, {{kib, bruck}, {2 * kib, synchronous}, {256 * kib, together}, {any, pairwise}}},
      {512, {{kib, bruck}, {8 * kib, synchronous}, {32 * kib, together}, {any, pairwise}}},
      {1024,
       {{512, bruck},
        {8 * kib, synchronous},
        {16 * kib, together},
        {128 * kib, synchronous},
        {256 * kib, together},
        {any, pairwise}}},
      {2048,
       {{512, bruck},
        {kib, synchronous},
        {2 * kib, together},
        {16 * kib, synchronous},
        {256 * kib, together},
        {any, synchronous}}},
      {4096, {{kib, bruck}, {4 * kib, synchronous}, {8 * kib, together}, {128 * kib, synchronous}, {any, together}}},
      {8192,
       {{2 * kib, bruck},
        {8 * kib, synchronous},
        {16 * kib, together},
        {32 * kib, synchronous},
        {64 * kib, together},
        {any, synchronous}}},
      {all, {{any, pairwise}}}};
  return rows;
}

Table alltoallv_table() {
  static const ByRanks rows[] = {{4, {{any, pairwise}}},    {64, {{any, linear_at_once}}},
                                 {128, {{any, pairwise}}},  {256, {{any, linear_at_once}}},
                                 {1024, {{any, pairwise}}}, {8192, {{any, linear_at_once}}},
                                 {all, {{any, pairwise}}}};
  return rows;
}

Table alltoallw_table() {
  static const ByRanks rows[] = {{8192, {{any, linear_at_once}}}, {all, {{any, pairwise}}}};
  return rows;
}

Table barrier_table() {
  static const ByRanks rows[] = {{4, {{any, recursive_doubling}}},
                                 {8, {{any, linear}}},
                                 {64, {{any, recursive_doubling}}},
                                 {256, {{any, dissemination}}},
                                 {512, {{any, tree}}},
                                 {1024, {{any, dissemination}}},
                                 {4096, {{any, tree}}},
                                 {all, {{any, dissemination}}}};
  return rows;
}

Table bcast_table() {
  static const ByRanks rows[] = {
      {4,
       {{32, chain},
        {256, binary},
        {512, chain},
        {kib, knomial},
        {32 * kib, linear},
        {128 * kib, binary},
        {256 * kib, chain},
        {512 * kib, linear},
        {mib, binomial},
        {any, binary}}},
      {8, {{64, binary}, {128, binomial}, {2 * kib, binary}, {8 * kib, binomial}, {mib, linear}, {any, chain}}},
      {16, {{8, knomial}, {64, binary}, {4 * kib, knomial}, {16 * kib, binary}, {32 * kib, binomial}, {any, linear}}},
      {32, {{4 * kib, knomial}, {mib, binomial}, {any, scatter_recursive_doubling}}},
      {64, {{2 * kib, binomial}, {any, knomial}}},
      {128, {{any, knomial}}},
      {256, {{2, binomial}, {16 * kib, binary}, {32 * kib, linear}, {64 * kib, binary}, {any, knomial}}},
      {1024, {{16 * kib, knomial}, {32 * kib, split_binary}, {any, knomial}}},
      {2048, {{512 * kib, knomial}, {any, scatter_recursive_doubling}}},
      {4096, {{256 * kib, knomial}, {any, scatter_recursive_doubling}}},
      {all, {{8 * kib, knomial}, {16 * kib, binary}, {any, knomial}}}};
  return rows;
}

Table reduce_table() {
  constexpr Algorithm in_order = in_order_binary;
  static const ByRanks rows[] = {
      {4, {{8, rabenseifner}, {16, binary}, {32, chain}, {256 * kib, linear}, {any, chain}}},
      {8,
       {{4 * kib, binary},
        {64 * kib, chain},
        {256 * kib, binomial},
        {512 * kib, linear},
        {mib, binomial},
        {any, linear}}},
      {16, {{8 * kib, binary}, {any, binomial}}},
      {32, {{4 * kib, binary}, {any, binomial}}},
      {256, {{any, binomial}}},
      {512, {{8 * kib, binomial}, {16 * kib, in_order}, {any, binomial}}},
      {2048, {{any, binomial}}},
      {4096, {{512, binomial}, {kib, in_order}, {8 * kib, binomial}, {16 * kib, in_order}, {any, binomial}}},
      {all,
       {{16, binomial},
        {32, in_order},
        {kib, binomial},
        {2 * kib, in_order},
        {8 * kib, binomial},
        {16 * kib, in_order},
        {any, binomial}}}};
  return rows;
}

Table reduce_scatter_table() {
  constexpr Algorithm halving = recursive_halving;
  static const ByRanks rows[] = {
      {4, {{64 * kib, ring}, {128 * kib, butterfly}, {any, ring}}},
      {8, {{8, reduce_scatter}, {256 * kib, halving}, {any, ring}}},
      {32, {{256 * kib, halving}, {any, ring}}},
      {64, {{64, reduce_scatter}, {2 * kib, halving}, {512 * kib, butterfly}, {any, ring}}},
      {128, {{256, reduce_scatter}, {512, halving}, {2 * kib, butterfly}, {4 * kib, halving}, {any, butterfly}}},
      {256, {{256, reduce_scatter}, {512, halving}, {any, butterfly}}},
      {512, {{256, reduce_scatter}, {kib, halving}, {any, butterfly}}},
      {1024, {{512, reduce_scatter}, {2 * kib, halving}, {8 * kib, butterfly}, {16 * kib, halving}, {any, butterfly}}},
      {2048, {{512, reduce_scatter}, {4 * kib, halving}, {16 * kib, butterfly}, {32 * kib, halving}, {any, butterfly}}},
      {4096, {{512, reduce_scatter}, {4 * kib, halving}, {any, butterfly}}},
      {8192, {{kib, reduce_scatter}, {8 * kib, halving}, {any, butterfly}}},
      {all, {{any, halving}}}};
  return rows;
}

Table reduce_scatter_block_table() {
  constexpr Algorithm halving = recursive_halving;
  static const ByRanks rows[] = {
      {4,
       {{4, recursive_doubling},
        {8, butterfly},
        {16, halving},
        {128, butterfly},
        {256, halving},
        {4 * kib, butterfly},
        {8 * kib, halving},
        {128 * kib, butterfly},
        {any, reduce_scatter}}},
      {8,
       {{8, halving},
        {32, recursive_doubling},
        {256, butterfly},
        {8 * kib, halving},
        {16 * kib, butterfly},
        {mib, halving},
        {any, reduce_scatter}}},
      {16,
       {{4, reduce_scatter},
        {32, halving},
        {128, butterfly},
        {512 * kib, halving},
        {4 * mib, reduce_scatter},
        {any, butterfly}}},
      {32,
       {{32, reduce_scatter}, {512 * kib, halving}, {2 * mib, reduce_scatter}, {4 * mib, halving}, {any, butterfly}}},
      {8192,
       {{4, halving}, {16, reduce_scatter}, {64 * kib, butterfly}, {256 * kib, reduce_scatter}, {any, butterfly}}},
      {all, {{any, halving}}}};
  return rows;
}

Table allgather_table() {
  constexpr Algorithm doubling = recursive_doubling, neighbour = neighbour_exchange;
  static const ByRanks rows[] = {
      {3, {{any, exchange}}},
      {32, {{any, doubling}}},
      {64, {{kib, doubling}, {64 * kib, neighbour}, {any, ring}}},
      {128, {{512, doubling}, {64 * kib, neighbour}, {any, ring}}},
      {256, {{512, doubling}, {128 * kib, neighbour}, {512 * kib, ring}, {mib, neighbour}, {any, ring}}},
      {512,
       {{32, doubling},
        {128, bruck},
        {kib, doubling},
        {128 * kib, neighbour},
        {512 * kib, ring},
        {mib, neighbour},
        {any, ring}}},
      {1024, {{64, doubling}, {256, bruck}, {2 * kib, doubling}, {any, neighbour}}},
      {2048,
       {{4, doubling},
        {8, bruck},
        {16, doubling},
        {32, bruck},
        {256, doubling},
        {512, bruck},
        {4 * kib, doubling},
        {any, neighbour}}},
      {4096, {{32, bruck}, {128, doubling}, {512, bruck}, {4 * kib, doubling}, {any, neighbour}}},
      {all, {{2, doubling}, {8, bruck}, {16, doubling}, {512, bruck}, {4 * kib, doubling}, {any, neighbour}}}};
  return rows;
}

/// By the mean of the blocks.
Table allgatherv_table() {
  constexpr Algorithm neighbour = neighbour_exchange;
  static const ByRanks rows[] = {
      {3, {{2 * kib, ring}, {4 * kib, exchange}, {8 * kib, ring}, {any, exchange}}},
      {8,
       {{256, gather_bcast},
        {4 * kib, neighbour},
        {8 * kib, ring},
        {16 * kib, neighbour},
        {256 * kib, bruck},
        {any, neighbour}}},
      {16, {{kib, gather_bcast}, {any, bruck}}},
      {32, {{128, gather_bcast}, {256 * kib, bruck}, {any, ring}}},
      {64, {{256, gather_bcast}, {8 * kib, bruck}, {any, ring}}},
      {128, {{256, gather_bcast}, {4 * kib, bruck}, {any, ring}}},
      {256, {{kib, bruck}, {64 * kib, neighbour}, {any, ring}}},
      {512, {{kib, bruck}, {any, ring}}},
      {1024, {{512, bruck}, {kib, gather_bcast}, {4 * kib, bruck}, {mib, neighbour}, {any, ring}}},
      {all, {{4 * kib, bruck}, {any, neighbour}}}};
  return rows;
}

Table gather_table() {
  constexpr Algorithm synchronous = linear_synchronous;
  static const ByRanks rows[] = {
      {4,
       {{2, synchronous},
        {4, linear},
        {32 * kib, binomial},
        {64 * kib, linear},
        {128 * kib, binomial},
        {any, synchronous}}},
      {8, {{kib, binomial}, {8 * kib, linear}, {32 * kib, binomial}, {256 * kib, linear}, {any, synchronous}}},
      {256, {{any, binomial}}},
      {512, {{2 * kib, binomial}, {8 * kib, linear}, {any, binomial}}},
      {all, {{any, binomial}}}};
  return rows;
}

Table scatter_table() {
  constexpr Algorithm together = linear_at_once;
  static const ByRanks rows[] = {{4, {{2, together}, {128 * kib, linear}, {256 * kib, together}, {any, linear}}},
                                 {8,
                                  {{2 * kib, binomial},
                                   {4 * kib, linear},
                                   {8 * kib, binomial},
                                   {32 * kib, linear},
                                   {mib, together},
                                   {any, linear}}},
                                 {16, {{16 * kib, binomial}, {mib, together}, {any, linear}}},
                                 {32, {{16 * kib, binomial}, {32 * kib, linear}, {any, together}}},
                                 {64, {{512, binomial}, {8 * kib, together}, {16 * kib, binomial}, {any, together}}},
                                 {all, {{512, binomial}, {any, together}}}};
  return rows;
}

/// At least one for each rank of the largest power of two.
bool has_elements_for(const Collective& what) {
  return what.bytes / element_bytes(what.bytes) >= std::bit_floor(what.size);
}

/// coll/libnbc.
Algorithm choose_nonblocking(const Collective& what) {
  switch (what.operation) {
    case Operation::barrier:
      return dissemination;
    case Operation::bcast:
      return what.size <= 4 ? linear : binomial;
    case Operation::reduce:
      if (what.size > 2 && has_elements_for(what)) return rabenseifner;
      return what.size > 4 || what.bytes < 64 * kib ? binomial : chain;
    case Operation::allreduce:
      if (what.size < 4 || what.bytes < 64 * kib) return reduce_bcast;
      return has_elements_for(what) ? rabenseifner : ring;
    case Operation::scan:
    case Operation::exscan:
      return linear;
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return reduce_scatter;
    default:
      return linear_at_once;
  }
}

}  // namespace

Algorithm choose_openmpi(const Collective& what) {
  if (what.nonblocking) return choose_nonblocking(what);
  const auto chosen = [&](Table table, std::uint64_t bytes) { return look_up(table, what.size, bytes); };
  std::uint64_t total = what.bytes * what.size;
  if (!what.from.empty()) {
    total = 0;
    for (const std::uint64_t bytes : what.from) total += bytes;
  }
  switch (what.operation) {
    case Operation::barrier:
      return chosen(barrier_table(), 0);
    case Operation::bcast:
      return chosen(bcast_table(), what.bytes);
    case Operation::gather:
      return chosen(gather_table(), what.bytes);
    case Operation::scatter:
      return chosen(scatter_table(), what.bytes);
    case Operation::allgather:
      return chosen(allgather_table(), what.bytes);
    case Operation::allgatherv:
      return chosen(allgatherv_table(), total / what.size);
    case Operation::alltoall:
      return chosen(alltoall_table(), what.bytes);
    case Operation::alltoallv:
      return chosen(alltoallv_table(), 0);
    case Operation::alltoallw:
      return chosen(alltoallw_table(), 0);
    case Operation::reduce:
      return chosen(reduce_table(), what.bytes);
    case Operation::allreduce:
      return chosen(allreduce_table(), what.bytes);
    case Operation::reduce_scatter:
      return chosen(reduce_scatter_table(), total);
    case Operation::reduce_scatter_block:
      return chosen(reduce_scatter_block_table(), what.bytes);
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::scan:
    case Operation::exscan:
    case Operation::neighbours:
      return linear;
  }
  return linear;
}

}  // namespace holdfast::simulate::job
