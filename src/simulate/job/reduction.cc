#include <algorithm>

#include "simulate/job/builder.h"

/// Reduce, allreduce, reduce-scatter, scan. R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
/// Communication Operations in MPICH", 2005, has most of these algorithms.
namespace holdfast::simulate::job {
namespace {

/// From each child in turn, the next one's message being received meanwhile; then to the parent.
void up(const Branches& tree, std::uint64_t bytes, Builder& builder) {
  std::uint64_t coming = 0;
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const std::uint64_t next = builder.receive(tree.children[i], bytes);
    if (i > 0) {
      builder.wait_for(coming);
      builder.reduce(bytes);
    }
    coming = next;
  }
  if (!tree.children.empty()) {
    builder.wait_for(coming);
    builder.reduce(bytes);
  }
  if (tree.parent != no_rank) builder.send_and_wait(tree.parent, bytes);
}

void linear_reduction(const Collective& what, Builder& builder) {
  if (what.me != what.root) return builder.send_and_wait(what.root, what.bytes);
  for (std::uint32_t rank = what.size; rank > 0; --rank) {
    if (rank - 1 == what.root) continue;
    builder.receive_and_wait(rank - 1, what.bytes);
    builder.reduce(what.bytes);
  }
}

/// Binomial, the root's farthest child last, and each message waited for by itself.
void in_turn(const Branches& tree, std::uint64_t bytes, Builder& builder) {
  for (const std::uint32_t child : tree.children) {
    builder.receive_and_wait(child, bytes);
    builder.reduce(bytes);
  }
  if (tree.parent != no_rank) builder.send_and_wait(tree.parent, bytes);
}

/// The ranks that are more than a power of two give what they have to another, and get the result from it.
struct Folded {
  std::uint32_t power = 1;
  std::uint32_t rest = 0;
  std::uint32_t own = no_rank;  ///< my number among those that go on; none: I do not
  bool evens = false;           ///< of each pair the even rank goes on

  Folded(std::uint32_t me, std::uint32_t size, bool evens_go_on)
      : power(power_within(size)), rest(size - power), evens(evens_go_on) {
    if (me >= 2 * rest)
      own = me - rest;
    else if ((me % 2 == 0) == evens)
      own = me / 2;
  }
  std::uint32_t rank(std::uint32_t number) const {
    if (number >= rest) return number + rest;
    return 2 * number + (evens ? 0 : 1);
  }
  bool has_pair(std::uint32_t me) const { return me < 2 * rest; }
};

void fold(const Collective& what, const Folded& folded, std::uint64_t bytes, Builder& builder) {
  if (!folded.has_pair(what.me)) return;
  if (folded.own == no_rank) return builder.send_and_wait(what.me ^ 1U, bytes);
  builder.receive_and_wait(what.me ^ 1U, bytes);
  builder.reduce(bytes);
}

/// Both of a pair combine one half, and one half goes on to the other.
void fold_by_halves(const Collective& what, const Folded& folded, Builder& builder) {
  if (!folded.has_pair(what.me)) return;
  const std::uint64_t element = element_bytes(what.bytes);
  const std::uint64_t left = what.bytes / element / 2 * element;
  const std::uint64_t right = what.bytes - left;
  const std::uint32_t pair = what.me ^ 1U;
  if (folded.own == no_rank) {
    builder.exchange(pair, left, pair, right);
    builder.reduce(right);
    builder.send_and_wait(pair, right);
  } else {
    builder.exchange(pair, right, pair, left);
    builder.reduce(left);
    builder.receive_and_wait(pair, right);
  }
}

void unfold(const Collective& what, const Folded& folded, std::uint64_t bytes, Builder& builder) {
  if (!folded.has_pair(what.me)) return;
  folded.own == no_rank ? builder.receive_and_wait(what.me ^ 1U, bytes) : builder.send_and_wait(what.me ^ 1U, bytes);
}

void doubling_all_reduction(const Collective& what, Builder& builder) {
  const Folded folded(what.me, what.size, false);
  fold(what, folded, what.bytes, builder);
  for (std::uint32_t mask = 1; folded.own != no_rank && mask < folded.power; mask *= 2) {
    const std::uint32_t other = folded.rank(folded.own ^ mask);
    builder.exchange(other, what.bytes, other, what.bytes);
    builder.reduce(what.bytes);
  }
  unfold(what, folded, what.bytes, builder);
}

/// What a rank sends and gets in each step of halving; backwards it is what it gets and sends.
struct Halving {
  std::vector<std::uint32_t> other;
  std::vector<std::uint64_t> sent, kept;
};

/// At doubling distances; the lower of two ranks keeps the first half.
Halving halve(const Folded& folded, std::uint64_t bytes) {
  Halving steps;
  const std::uint64_t element = element_bytes(bytes);
  std::uint64_t window = bytes / element;
  for (std::uint32_t mask = 1; mask < folded.power; mask *= 2) {
    const std::uint32_t other = folded.own ^ mask;
    const std::uint64_t kept = folded.own < other ? window / 2 : window - window / 2;
    steps.other.push_back(folded.rank(other));
    steps.sent.push_back((window - kept) * element);
    steps.kept.push_back(kept * element);
    window = kept;
  }
  return steps;
}

/// Blocks as MPICH cuts them: equal ones, the last with what is left over.
Halving halve_blocks(const Folded& folded, std::uint64_t bytes) {
  Halving steps;
  const std::uint64_t element = element_bytes(bytes);
  const std::uint64_t each = bytes / element / folded.power;
  const auto sum = [&](std::uint32_t first, std::uint32_t last) {
    return (last == folded.power ? bytes : last * each * element) - first * each * element;
  };
  std::uint32_t first = 0;
  std::uint32_t count = folded.power;
  for (std::uint32_t mask = 1; mask < folded.power; mask *= 2) {
    const std::uint32_t other = folded.own ^ mask;
    const std::uint32_t middle = first + count / 2;
    const std::uint64_t lower = sum(first, middle);
    const std::uint64_t upper = sum(middle, first + count);
    const bool keeps_lower = folded.own < other;
    steps.other.push_back(folded.rank(other));
    steps.sent.push_back(keeps_lower ? upper : lower);
    steps.kept.push_back(keeps_lower ? lower : upper);
    if (!keeps_lower) first = middle;
    count /= 2;
  }
  return steps;
}

void reduce_by_halving(const Halving& steps, Builder& builder) {
  for (std::size_t i = 0; i < steps.other.size(); ++i) {
    builder.exchange(steps.other[i], steps.sent[i], steps.other[i], steps.kept[i]);
    builder.reduce(steps.kept[i]);
  }
}

void rabenseifner_all_reduction(const Collective& what, Rules rules, Builder& builder) {
  const bool mpich = rules == Rules::mpich;
  const Folded folded(what.me, what.size, !mpich);
  mpich ? fold(what, folded, what.bytes, builder) : fold_by_halves(what, folded, builder);
  if (folded.own != no_rank) {
    const Halving steps = mpich ? halve_blocks(folded, what.bytes) : halve(folded, what.bytes);
    reduce_by_halving(steps, builder);
    for (std::size_t i = steps.other.size(); i > 0; --i)
      builder.exchange(steps.other[i - 1], steps.kept[i - 1], steps.other[i - 1], steps.sent[i - 1]);
  }
  unfold(what, folded, what.bytes, builder);
}

void ring_all_reduction(const Collective& what, Builder& builder) {
  const Blocks blocks(what.bytes, what.size);
  const std::uint32_t to = next_rank(what);
  const std::uint32_t from = rank_before(what);
  for (std::uint32_t step = 0; step + 1 < what.size; ++step) {
    const std::uint64_t coming = blocks[rank_before(what, step + 1)];
    builder.exchange(to, blocks[rank_before(what, step)], from, coming);
    builder.reduce(coming);
  }
  for (std::uint32_t step = 0; step + 1 < what.size; ++step)
    builder.exchange(to, blocks[rank_before(what, step + what.size - 1)], from, blocks[rank_before(what, step)]);
}

/// Reduce-scatter at doubling distances, then the blocks go up the binomial tree to the root.
void rabenseifner_reduction(const Collective& what, Rules rules, Builder& builder) {
  const bool mpich = rules == Rules::mpich;
  const Folded folded(what.me, what.size, !mpich);
  mpich ? fold(what, folded, what.bytes, builder) : fold_by_halves(what, folded, builder);
  std::uint32_t root = 0;  // its number among those that go on
  while (root < folded.power && folded.rank(root) != what.root) ++root;
  const bool root_is_out = root == folded.power;
  if (root_is_out) root = 0;
  if (folded.own != no_rank) {
    const Halving steps = mpich ? halve_blocks(folded, what.bytes) : halve(folded, what.bytes);
    reduce_by_halving(steps, builder);
    for (std::size_t i = steps.other.size(); i > 0; --i) {
      const std::uint32_t mask = 1U << (i - 1);
      // Those that differ from the root in this place send, and are done.
      if (((folded.own ^ root) & mask) != 0) {
        builder.send_and_wait(steps.other[i - 1], steps.kept[i - 1]);
        break;
      }
      builder.receive_and_wait(steps.other[i - 1], steps.sent[i - 1]);
    }
  }
  if (!root_is_out) return;
  if (what.me == folded.rank(0)) builder.send_and_wait(what.root, what.bytes);
  if (what.me == what.root) builder.receive_and_wait(folded.rank(0), what.bytes);
}

void in_order_reduction(const Collective& what, Builder& builder) {
  const std::uint32_t last = what.size - 1;
  up(in_order_binary_tree(what.me, what.size), what.bytes, builder);
  if (what.root == last) return;
  if (what.me == last) builder.send_and_wait(what.root, what.bytes);
  if (what.me == what.root) builder.receive_and_wait(last, what.bytes);
}

// ---- reduce-scatter: block i, of from_rank(i) bytes, goes to rank i

std::uint64_t sum_of_blocks(const Collective& what, std::uint32_t first, std::uint32_t last) {
  if (what.from.empty()) return what.bytes * (last - first);
  std::uint64_t sum = 0;
  for (std::uint32_t i = first; i < last; ++i) sum += what.from[i];
  return sum;
}

/// The blocks of the numbers first to last - 1 among those that go on: of each pair, both blocks.
std::uint64_t folded_blocks(const Collective& what, const Folded& folded, std::uint32_t first, std::uint32_t last) {
  const auto begin = [&](std::uint32_t number) { return number < folded.rest ? 2 * number : number + folded.rest; };
  return sum_of_blocks(what, begin(first), begin(last));
}

void exchange_unless_empty(std::uint32_t other, std::uint64_t sent, std::uint64_t received, Builder& builder) {
  if (received > 0) builder.receive(other, received);
  if (sent > 0) builder.send(other, sent);
  builder.wait();
}

/// At halving distances, so that what is left at the end is the own block.
void halving_reduce_scatter(const Collective& what, Builder& builder) {
  const Folded folded(what.me, what.size, false);
  fold(what, folded, sum_of_blocks(what, 0, what.size), builder);
  if (folded.own != no_rank) {
    std::uint32_t first = 0;
    std::uint32_t last = folded.power;
    for (std::uint32_t mask = folded.power / 2; mask > 0; mask /= 2) {
      const std::uint32_t middle = first + mask;
      const bool lower = folded.own < middle;
      const std::uint32_t other = folded.rank(folded.own ^ mask);
      const std::uint64_t of_lower = folded_blocks(what, folded, first, middle);
      const std::uint64_t of_upper = folded_blocks(what, folded, middle, last);
      exchange_unless_empty(other, lower ? of_upper : of_lower, lower ? of_lower : of_upper, builder);
      builder.reduce(lower ? of_lower : of_upper);
      (lower ? last : first) = middle;
    }
  }
  const std::uint32_t pair = what.me ^ 1U;
  if (!folded.has_pair(what.me)) return;
  if (folded.own == no_rank) {
    if (what.from_rank(what.me) > 0) builder.receive_and_wait(pair, what.from_rank(what.me));
  } else if (what.from_rank(pair) > 0) {
    builder.send_and_wait(pair, what.from_rank(pair));
  }
}

/// At doubling distances: what is left at the end is the block whose number is the own one with its bits reversed.
void butterfly_reduce_scatter(const Collective& what, Builder& builder) {
  // Equal blocks for a power of two of ranks are taken in reversed order to begin with.
  const bool in_place = what.operation == Operation::reduce_scatter_block && std::has_single_bit(what.size);
  const Folded folded(what.me, what.size, false);
  fold(what, folded, sum_of_blocks(what, 0, what.size), builder);
  if (folded.own != no_rank) {
    std::uint32_t first = 0;
    std::uint32_t last = folded.power;
    for (std::uint32_t mask = 1; mask < folded.power; mask *= 2) {
      const std::uint32_t middle = first + (last - first) / 2;
      const bool lower = (folded.own & mask) == 0;
      const std::uint32_t other = folded.rank(folded.own ^ mask);
      const std::uint64_t of_lower = folded_blocks(what, folded, first, middle);
      const std::uint64_t of_upper = folded_blocks(what, folded, middle, last);
      builder.exchange(other, lower ? of_upper : of_lower, other, lower ? of_lower : of_upper);
      builder.reduce(lower ? of_lower : of_upper);
      (lower ? last : first) = middle;
    }
    // `first` is the number whose blocks I hold; that number holds mine.
    const std::uint32_t owner = folded.rank(first);
    const bool owner_has_pair = first < folded.rest;
    if (first != folded.own && !in_place) {
      builder.receive(owner, what.from_rank(what.me));
      builder.send(owner, what.from_rank(owner));
    }
    if (owner_has_pair) builder.send(owner ^ 1U, what.from_rank(owner ^ 1U));
    return builder.wait();
  }
  // My pair's number is pair / 2; the rank that holds its blocks is that with the bits reversed.
  const std::uint32_t number = what.me / 2;
  std::uint32_t reversed = 0;
  for (std::uint32_t bit = 1; bit < folded.power; bit *= 2) reversed = reversed * 2 + ((number & bit) != 0 ? 1 : 0);
  builder.receive_and_wait(folded.rank(reversed), what.from_rank(what.me));
}

void ring_reduce_scatter(const Collective& what, Builder& builder) {
  for (std::uint32_t step = 1; step < what.size; ++step) {
    const std::uint64_t coming = what.from_rank(rank_before(what, step + 1));
    builder.exchange(next_rank(what), what.from_rank(rank_before(what, step)), rank_before(what), coming);
    builder.reduce(coming);
  }
}

void pairwise_reduce_scatter(const Collective& what, Builder& builder) {
  for (std::uint32_t step = 1; step < what.size; ++step) {
    const std::uint32_t to = next_rank(what, step);
    builder.exchange(to, what.from_rank(to), rank_before(what, step), what.from_rank(what.me));
    builder.reduce(what.from_rank(what.me));
  }
}

/// Each step doubles the group whose ranks' contributions are together, and exchanges what is not of the group's own
/// blocks: R. Thakur et al., section 4.3. Ranks without a partner get what came to others of their group.
void doubling_reduce_scatter(const Collective& what, Builder& builder) {
  const std::uint64_t total = sum_of_blocks(what, 0, what.size);
  const auto outside = [&](std::uint32_t group, std::uint32_t mask) {
    return total - sum_of_blocks(what, group, std::min(group + mask, what.size));
  };
  for (std::uint32_t mask = 1; mask < what.size; mask *= 2) {
    const std::uint32_t group = what.me / mask * mask;
    const std::uint32_t other_group = group ^ mask;
    const std::uint64_t received = other_group < what.size ? outside(other_group, mask) : 0;
    if ((what.me ^ mask) < what.size) {
      builder.exchange(what.me ^ mask, outside(group, mask), what.me ^ mask, received);
      builder.reduce(received);
    }
    if (other_group < group || other_group >= what.size) continue;
    for (std::uint32_t step = mask / 2; step > 0; step /= 2) {
      const std::uint32_t other = what.me ^ step;
      const std::uint32_t with_partner = what.me / (2 * step) * (2 * step) + std::min(mask, what.size - other_group);
      if (other > what.me && what.me < with_partner && other >= with_partner) {
        builder.send_and_wait(other, received);
      } else if (other < what.me && other < with_partner && what.me >= with_partner) {
        builder.receive_and_wait(other, received);
        builder.reduce(received);
      }
    }
  }
}

}  // namespace

void add_reduction(const Collective& what, Algorithm algorithm, Rules rules, Builder& builder) {
  switch (algorithm) {
    case Algorithm::linear:
      return linear_reduction(what, builder);
    case Algorithm::chain: {
      // Open MPI's nonblocking chain goes in segments.
      const std::uint64_t segment =
          rules == Rules::openmpi && what.nonblocking ? 8192 : std::max<std::uint64_t>(what.bytes, 1);
      std::uint64_t left = what.bytes;
      do {
        up(chain(what.me, what.size, what.root), std::min(segment, left), builder);
        left -= std::min(segment, left);
      } while (left > 0);
      return;
    }
    case Algorithm::binary:
      return up(binary_tree(what.me, what.size, what.root), what.bytes, builder);
    case Algorithm::in_order_binary:
      return in_order_reduction(what, builder);
    case Algorithm::rabenseifner:
      return rabenseifner_reduction(what, rules, builder);
    default: {
      const Branches tree = in_order_binomial_tree(what.me, what.size, what.root);
      return rules == Rules::mpich ? in_turn(tree, what.bytes, builder) : up(tree, what.bytes, builder);
    }
  }
}

void add_all_reduction(const Collective& what, Algorithm algorithm, Rules rules, Builder& builder) {
  switch (algorithm) {
    case Algorithm::ring:
      return ring_all_reduction(what, builder);
    case Algorithm::rabenseifner:
      return rabenseifner_all_reduction(what, rules, builder);
    default:
      return doubling_all_reduction(what, builder);
  }
}

void add_reduce_scatter(const Collective& what, Algorithm algorithm, Builder& builder) {
  switch (algorithm) {
    case Algorithm::ring:
      return ring_reduce_scatter(what, builder);
    case Algorithm::butterfly:
      return butterfly_reduce_scatter(what, builder);
    case Algorithm::pairwise:
      return pairwise_reduce_scatter(what, builder);
    case Algorithm::recursive_doubling:
      return doubling_reduce_scatter(what, builder);
    default:
      return halving_reduce_scatter(what, builder);
  }
}

void add_scan(const Collective& what, Algorithm algorithm, Builder& builder) {
  if (algorithm == Algorithm::linear) {
    if (what.me > 0) {
      builder.receive_and_wait(what.me - 1, what.bytes);
      builder.reduce(what.bytes);
    }
    if (what.me + 1 < what.size) builder.send_and_wait(what.me + 1, what.bytes);
    return;
  }
  for (std::uint32_t mask = 1; mask < what.size; mask *= 2) {
    const std::uint32_t other = what.me ^ mask;
    if (other >= what.size) continue;
    builder.exchange(other, what.bytes, other, what.bytes);
    builder.reduce(what.bytes);
  }
}

}  // namespace holdfast::simulate::job
