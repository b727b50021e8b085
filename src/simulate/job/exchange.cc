#include <algorithm>

#include "simulate/job/builder.h"

/// Alltoall, alltoallv and alltoallw, of which each rank has something for each other.
namespace holdfast::simulate::job {
namespace {

constexpr std::uint32_t throttle = 32;  ///< MPICH's scattered algorithm: sends, and receives, at once

void at_once(const Collective& what, bool synchronous, Builder& builder) {
  for (std::uint32_t step = 1; step < what.size; ++step) {
    const std::uint32_t from = next_rank(what, step);
    builder.receive(from, what.from_rank(from));
  }
  for (std::uint32_t step = 1; step < what.size; ++step) {
    const std::uint32_t to = rank_before(what, step);
    builder.send(to, what.to_rank(to), synchronous);
  }
}

/// Empty blocks of a v or w collective are not sent.
bool is_sent(const Collective& what, std::uint64_t bytes) {
  return bytes > 0 || what.operation == Operation::alltoall;
}

void scattered(const Collective& what, Builder& builder) {
  for (std::uint32_t first = 0; first < what.size; first += throttle) {
    const std::uint32_t end = std::min(what.size, first + throttle);
    for (std::uint32_t step = std::max(1U, first); step < end; ++step)
      if (is_sent(what, what.from_rank(next_rank(what, step))))
        builder.receive(next_rank(what, step), what.from_rank(next_rank(what, step)));
    for (std::uint32_t step = std::max(1U, first); step < end; ++step)
      if (is_sent(what, what.to_rank(rank_before(what, step))))
        builder.send(rank_before(what, step), what.to_rank(rank_before(what, step)));
    builder.wait();
  }
}

void pairwise(const Collective& what, bool by_mask, Builder& builder) {
  for (std::uint32_t step = 1; step < what.size; ++step) {
    const std::uint32_t to = by_mask ? what.me ^ step : next_rank(what, step);
    const std::uint32_t from = by_mask ? to : rank_before(what, step);
    builder.exchange(to, what.to_rank(to), from, what.from_rank(from));
  }
}

void bruck(const Collective& what, Builder& builder) {
  for (std::uint32_t distance = 1; distance < what.size; distance *= 2) {
    std::uint64_t blocks = 0;
    for (std::uint32_t block = 1; block < what.size; ++block) blocks += (block & distance) != 0 ? 1 : 0;
    builder.exchange(next_rank(what, distance), blocks * what.bytes, rank_before(what, distance), blocks * what.bytes);
  }
}

}  // namespace

void add_exchange_of_all(const Collective& what, Algorithm algorithm, Builder& builder) {
  switch (algorithm) {
    case Algorithm::scattered:
      return scattered(what, builder);
    case Algorithm::pairwise:
      return pairwise(what, false, builder);
    case Algorithm::exchange:
      return pairwise(what, true, builder);
    case Algorithm::bruck:
      return bruck(what, builder);
    default:
      return at_once(what, algorithm == Algorithm::linear_synchronous, builder);
  }
}

}  // namespace holdfast::simulate::job
