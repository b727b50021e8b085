#include <algorithm>

#include "simulate/job/builder.h"

namespace holdfast::simulate::job {
namespace {

void down(const Branches& tree, std::uint64_t bytes, Builder& builder) {
  if (tree.parent != no_rank) builder.receive_and_wait(tree.parent, bytes);
  for (const std::uint32_t child : tree.children) builder.send(child, bytes);
  builder.wait();
}

void linear_broadcast(const Collective& what, Builder& builder) {
  if (what.me != what.root) return builder.receive_and_wait(what.root, what.bytes);
  for (std::uint32_t rank = 0; rank < what.size; ++rank)
    if (rank != what.root) builder.send(rank, what.bytes);
  builder.wait();
}

/// Each subtree of a binary tree gets one half; ranks beside each other are in different subtrees, and exchange them.
void split_broadcast(const Collective& what, Builder& builder) {
  const std::uint64_t element = element_bytes(what.bytes);
  const std::uint64_t first = (what.bytes / element + 1) / 2 * element;
  const std::uint64_t half[2] = {first, what.bytes - first};
  const Branches tree = binary_tree(what.me, what.size, what.root);
  const std::uint32_t own = (what.me + what.size - what.root) % what.size;
  const std::uint32_t last = (what.root + what.size - 1) % what.size;
  const bool even = what.size % 2 == 0;
  if (own == 0) {
    for (std::size_t i = 0; i < tree.children.size(); ++i) builder.send(tree.children[i], half[i]);
    builder.wait();
    if (even) builder.send_and_wait(last, half[1]);
    return;
  }
  const std::size_t side = (own - 1) % 2;
  down(tree, half[side], builder);
  if (even && what.me == last) return builder.receive_and_wait(what.root, half[1]);
  const std::uint32_t pair = side == 0 ? next_rank(what) : rank_before(what);
  builder.exchange(pair, half[side], pair, half[1 - side]);
}

/// Cut into blocks of equal size, but for the last; block i belongs to the i-th rank from the root on.
class ScatteredBroadcast {
 public:
  ScatteredBroadcast(const Collective& what, Builder& builder)
      : what_(what), builder_(builder), own_((what.me + what.size - what.root) % what.size) {
    const std::uint64_t element = element_bytes(what.bytes);
    const std::uint64_t count = what.bytes / element;
    block_ = (count + what.size - 1) / what.size * element;
  }

  void scatter() {
    std::uint32_t mask = 1;
    held_ = own_ == 0 ? what_.bytes : 0;
    for (; mask < what_.size; mask *= 2) {
      if ((own_ & mask) == 0) continue;
      held_ = std::min(from(own_), block_ * mask);
      if (held_ > 0) builder_.receive_and_wait(rank(own_ - mask), held_);
      break;
    }
    for (mask /= 2; mask > 0; mask /= 2) {
      if (own_ + mask >= what_.size || held_ <= block_ * mask) continue;
      const std::uint64_t sent = held_ - block_ * mask;
      builder_.send_and_wait(rank(own_ + mask), sent);
      held_ -= sent;
    }
  }

  void double_recursively() {
    held_ = std::min(block_, from(own_));
    for (std::uint32_t mask = 1; mask < what_.size; mask *= 2) {
      const std::uint32_t other = own_ ^ mask;
      const std::uint32_t my_group = own_ / mask * mask;
      const std::uint32_t other_group = other / mask * mask;
      std::uint64_t received = 0;
      if (other < what_.size) {
        received = of_group(other_group, mask);
        builder_.exchange(rank(other), held_, rank(other), received);
        held_ += received;
      }
      if (std::max(my_group, other_group) + mask > what_.size) hand_on(my_group, other_group, mask, received);
    }
  }

  void ring() {
    for (std::uint32_t step = 0; step + 1 < what_.size; ++step)
      builder_.exchange(next_rank(what_), of_block(own_ + what_.size - step), rank_before(what_),
                        of_block(own_ + 2 * what_.size - step - 1));
  }

 private:
  std::uint32_t rank(std::uint32_t own) const { return (own + what_.root) % what_.size; }
  std::uint64_t from(std::uint32_t own) const { return what_.bytes - std::min(what_.bytes, block_ * own); }
  std::uint64_t of_block(std::uint32_t own) const { return std::min(block_, from(own % what_.size)); }
  std::uint64_t of_group(std::uint32_t first, std::uint32_t ranks) const {
    return std::min(block_ * ranks, from(first));
  }

  /// Of a pair of groups the upper one is cut off: those of the lower one without a partner get its blocks from those
  /// that have one.
  void hand_on(std::uint32_t my_group, std::uint32_t other_group, std::uint32_t mask, std::uint64_t received) {
    if (other_group < my_group || other_group >= what_.size) return;  // whole partners, or none
    for (std::uint32_t step = mask / 2; step > 0; step /= 2) {
      const std::uint32_t other = own_ ^ step;
      const std::uint32_t with_partner = own_ / (2 * step) * (2 * step) + what_.size - other_group;
      if (other > own_ && own_ < with_partner && other >= with_partner)
        builder_.send_and_wait(rank(other), received);
      else if (other < own_ && other < with_partner && own_ >= with_partner) {
        received = of_group(other_group, mask);
        builder_.receive_and_wait(rank(other), received);
        held_ += received;
      }
    }
  }

  const Collective& what_;
  Builder& builder_;
  std::uint32_t own_;
  std::uint64_t block_ = 0;
  std::uint64_t held_ = 0;
};

}  // namespace

void add_broadcast(const Collective& what, Algorithm algorithm, Builder& builder) {
  const auto along = [&](const Branches& tree) { down(tree, what.bytes, builder); };
  switch (algorithm) {
    case Algorithm::linear:
      return linear_broadcast(what, builder);
    case Algorithm::chain:
      return along(chain(what.me, what.size, what.root));
    case Algorithm::binary:
      return along(binary_tree(what.me, what.size, what.root));
    case Algorithm::knomial:
      return along(knomial_tree(what.me, what.size, what.root, 4));
    case Algorithm::split_binary:
      return split_broadcast(what, builder);
    case Algorithm::scatter_recursive_doubling:
    case Algorithm::scatter_ring: {
      ScatteredBroadcast scattered(what, builder);
      scattered.scatter();
      return algorithm == Algorithm::scatter_ring ? scattered.ring() : scattered.double_recursively();
    }
    default:
      return along(binomial_tree(what.me, what.size, what.root));
  }
}

}  // namespace holdfast::simulate::job
