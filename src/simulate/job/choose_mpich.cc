#include <algorithm>
#include <bit>

#include "simulate/job/collective.h"

/// MPICH 4.0's default selection.
namespace holdfast::simulate::job {
namespace {

using enum Algorithm;

constexpr std::uint64_t kib = 1024;

/// Several hosts, and more than one rank on at least one of them.
bool has_levels(const Collective& what) {
  if (what.host_of.empty()) return false;
  std::vector<std::uint32_t> hosts = what.host_of;
  std::sort(hosts.begin(), hosts.end());
  const auto end = std::unique(hosts.begin(), hosts.end());
  const auto different = static_cast<std::size_t>(end - hosts.begin());
  return different > 1 && different < hosts.size();
}

Algorithm choose_bcast(const Collective& what, bool power) {
  const std::uint64_t short_below = 12 * kib + (what.nonblocking ? 0 : 1);
  const std::uint64_t medium_below = 512 * kib + (what.nonblocking ? 0 : 1);
  if (what.size < 8 || what.bytes < short_below) return binomial;
  return power && what.bytes < medium_below ? scatter_recursive_doubling : scatter_ring;
}

/// Small, or fewer elements than the largest power of two of ranks.
bool is_short_reduction(const Collective& what, std::uint64_t most_bytes) {
  return what.bytes <= most_bytes || what.bytes / element_bytes(what.bytes) < std::bit_floor(what.size);
}

std::uint64_t all_bytes(const Collective& what) {
  if (what.from.empty()) return what.bytes * what.size;
  std::uint64_t total = 0;
  for (const std::uint64_t bytes : what.from) total += bytes;
  return total;
}

Algorithm choose_alltoall(const Collective& what) {
  const std::uint64_t bruck_most = what.nonblocking ? 2 * kib : 256;
  if (what.size >= 8 && what.bytes <= bruck_most) return bruck;
  if (what.bytes <= 32 * kib) return scattered;
  return std::has_single_bit(what.size) ? exchange : pairwise;
}

}  // namespace

Algorithm choose_mpich(const Collective& what) {
  const bool power = std::has_single_bit(what.size);
  const bool levels = !what.nonblocking && has_levels(what);
  switch (what.operation) {
    case Operation::barrier:
      return levels ? two_level : dissemination;
    case Operation::bcast:
      return levels && what.bytes < 12 * kib ? two_level : choose_bcast(what, power);
    case Operation::gather:
    case Operation::scatter:
      return binomial;
    case Operation::gatherv:
    case Operation::scatterv:
      return linear_at_once;
    case Operation::allgather:
    case Operation::allgatherv:
      if (power) return all_bytes(what) < 512 * kib ? recursive_doubling : ring;
      return all_bytes(what) < 80 * kib ? bruck : ring;
    case Operation::alltoall:
      return choose_alltoall(what);
    case Operation::alltoallv:
    case Operation::alltoallw:
      return scattered;
    case Operation::reduce:
      if (levels) return two_level;
      return is_short_reduction(what, 2 * kib) ? binomial : rabenseifner;
    case Operation::allreduce:
      if (levels && what.bytes <= 32 * kib) return two_level;
      return is_short_reduction(what, what.nonblocking ? 2 * kib : 8) ? recursive_doubling : rabenseifner;
    case Operation::scan:
    case Operation::exscan:
      return recursive_doubling;
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return all_bytes(what) < 512 * kib ? recursive_halving : pairwise;
    case Operation::neighbours:
      return linear_at_once;
  }
  return binomial;
}

}  // namespace holdfast::simulate::job
