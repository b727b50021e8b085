#include <algorithm>
#include <bit>

#include "simulate/job/builder.h"

/// Gather, scatter and allgather.
namespace holdfast::simulate::job {
namespace {

/// Blocks of a subtree whose ranks are consecutive, counted from the root on.
std::uint64_t subtree(const Collective& what, std::uint32_t rank, std::uint32_t mask) {
  const std::uint32_t own = (rank + what.size - what.root) % what.size;
  return std::min(mask, what.size - own) * what.bytes;
}

/// How wide a rank's own subtree may be.
std::uint32_t width_of(const Collective& what) {
  const std::uint32_t own = (what.me + what.size - what.root) % what.size;
  return own == 0 ? what.size : 1U << std::countr_zero(own);
}

void binomial_gather(const Collective& what, Builder& builder) {
  const Branches tree = in_order_binomial_tree(what.me, what.size, what.root);
  for (std::size_t i = 0; i < tree.children.size(); ++i)
    builder.receive_and_wait(tree.children[i], subtree(what, tree.children[i], 1U << i));
  if (tree.parent != no_rank) builder.send_and_wait(tree.parent, subtree(what, what.me, width_of(what)));
}

void binomial_scatter(const Collective& what, Builder& builder) {
  const Branches tree = in_order_binomial_tree(what.me, what.size, what.root);
  if (tree.parent != no_rank) builder.receive_and_wait(tree.parent, subtree(what, what.me, width_of(what)));
  for (std::size_t i = tree.children.size(); i > 0; --i)
    builder.send_and_wait(tree.children[i - 1], subtree(what, tree.children[i - 1], 1U << (i - 1)));
}

/// Each sender waits until the root has asked it.
void synchronous_gather(const Collective& what, Builder& builder) {
  if (what.me != what.root) {
    builder.receive_and_wait(what.root, 0);
    builder.send_and_wait(what.root, what.bytes);
    return builder.send_and_wait(what.root, 0);
  }
  for (std::uint32_t rank = 0; rank < what.size; ++rank) {
    if (rank == what.root) continue;
    const std::uint64_t block = builder.receive(rank, what.bytes);
    builder.send_and_wait(rank, 0);
    builder.receive(rank, 0);
    builder.wait_for(block);
  }
  builder.wait();
}

// ---- allgather: block i, of from_rank(i) bytes, is rank i's

std::uint64_t own_block(const Collective& what) {
  return what.from_rank(what.me);
}

/// So many blocks from that of rank `first` on.
std::uint64_t blocks_from(const Collective& what, std::uint64_t first, std::uint64_t count) {
  if (what.from.empty()) return what.bytes * count;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += what.from[(first + i) % what.size];
  return sum;
}

/// J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997.
void bruck_allgather(const Collective& what, Builder& builder) {
  for (std::uint32_t distance = 1; distance < what.size; distance *= 2) {
    const std::uint32_t count = std::min(distance, what.size - distance);
    builder.exchange(rank_before(what, distance), blocks_from(what, what.me, count), next_rank(what, distance),
                     blocks_from(what, what.me + distance, count));
  }
}

void doubling_allgather(const Collective& what, Builder& builder) {
  for (std::uint32_t mask = 1; mask < what.size; mask *= 2) {
    const std::uint32_t group = what.me / mask * mask;
    builder.exchange(what.me ^ mask, blocks_from(what, group, mask), what.me ^ mask,
                     blocks_from(what, group ^ mask, mask));
  }
}

void ring_allgather(const Collective& what, Builder& builder) {
  for (std::uint32_t step = 0; step + 1 < what.size; ++step)
    builder.exchange(next_rank(what), what.from_rank(rank_before(what, step)), rank_before(what),
                     what.from_rank(rank_before(what, step + 1)));
}

/// Neighbours exchange, to the left and to the right in turn: first their own blocks, then the two that came last.
/// J. Chen, L. Zhang, Y. Zhang, W. Yuan, "Performance evaluation of allgather algorithms on terascale Linux cluster
/// with fast Ethernet", 2005. For even numbers of ranks.
void neighbouring_allgather(const Collective& what, Builder& builder) {
  const bool even = what.me % 2 == 0;
  const std::uint32_t neighbour[2] = {even ? next_rank(what) : rank_before(what),
                                      even ? rank_before(what) : next_rank(what)};
  builder.exchange(neighbour[0], own_block(what), neighbour[0], what.from_rank(neighbour[0]));
  // The pair of blocks that came last, by its first rank. Those that come are further away each time.
  const std::uint64_t own_pair = what.me / 2 * 2 + 2 * std::uint64_t{what.size};
  std::uint64_t held = own_pair;
  for (std::uint32_t step = 1; step < what.size / 2; ++step) {
    const std::uint64_t distance = (step + 1) / 2 * 2;
    const std::uint64_t coming = even == (step % 2 == 1) ? own_pair - distance : own_pair + distance;
    const std::uint32_t other = neighbour[step % 2];
    builder.exchange(other, blocks_from(what, held % what.size, 2), other, blocks_from(what, coming % what.size, 2));
    held = coming;
  }
}

}  // namespace

void add_gather(const Collective& what, Algorithm algorithm, Builder& builder) {
  if (algorithm == Algorithm::binomial) return binomial_gather(what, builder);
  if (algorithm == Algorithm::linear_synchronous) return synchronous_gather(what, builder);
  const bool at_once = algorithm == Algorithm::linear_at_once;
  const bool varies = what.operation == Operation::gatherv;
  if (what.me != what.root) {
    if (!varies || what.bytes > 0) builder.send_and_wait(what.root, what.bytes);
    return;
  }
  for (std::uint32_t rank = 0; rank < what.size; ++rank) {
    const std::uint64_t bytes = what.from_rank(rank);
    if (rank == what.root || (varies && bytes == 0)) continue;
    at_once ? static_cast<void>(builder.receive(rank, bytes)) : builder.receive_and_wait(rank, bytes);
  }
}

void add_scatter(const Collective& what, Algorithm algorithm, Builder& builder) {
  if (algorithm == Algorithm::binomial) return binomial_scatter(what, builder);
  const bool at_once = algorithm == Algorithm::linear_at_once;
  const bool varies = what.operation == Operation::scatterv;
  if (what.me != what.root) {
    if (!varies || what.bytes > 0) builder.receive_and_wait(what.root, what.bytes);
    return;
  }
  for (std::uint32_t rank = 0; rank < what.size; ++rank) {
    const std::uint64_t bytes = what.to_rank(rank);
    if (rank == what.root || (varies && bytes == 0)) continue;
    at_once ? static_cast<void>(builder.send(rank, bytes)) : builder.send_and_wait(rank, bytes);
  }
}

void add_allgather(const Collective& what, Algorithm algorithm, Builder& builder) {
  switch (algorithm) {
    case Algorithm::ring:
      return ring_allgather(what, builder);
    case Algorithm::recursive_doubling:
      return doubling_allgather(what, builder);
    case Algorithm::neighbour_exchange:
      return neighbouring_allgather(what, builder);
    case Algorithm::exchange: {
      const std::uint32_t other = 1 - what.me;
      return builder.exchange(other, own_block(what), other, what.from_rank(other));
    }
    case Algorithm::linear_at_once:
      for (std::uint32_t step = 1; step < what.size; ++step) {
        builder.receive(rank_before(what, step), what.from_rank(rank_before(what, step)));
        builder.send(next_rank(what, step), own_block(what));
      }
      return;
    default:
      return bruck_allgather(what, builder);
  }
}

}  // namespace holdfast::simulate::job
