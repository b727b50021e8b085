#include "simulate/job/builder.h"

namespace holdfast::simulate::job {
namespace {

void linear_barrier(const Collective& what, Builder& builder) {
  if (what.me != 0) {
    builder.send_and_wait(0, 0);
    builder.receive_and_wait(0, 0);
    return;
  }
  for (const bool sends : {false, true}) {
    for (std::uint32_t rank = 1; rank < what.size; ++rank) sends ? builder.send(rank, 0) : builder.receive(rank, 0);
    builder.wait();
  }
}

void doubling_barrier(const Collective& what, Builder& builder) {
  const std::uint32_t power = power_within(what.size);
  if (what.me >= power) return builder.exchange(what.me - power, 0, what.me - power, 0);
  const bool helps = what.me + power < what.size;
  if (helps) builder.receive_and_wait(what.me + power, 0);
  for (std::uint32_t mask = 1; mask < power; mask *= 2) builder.exchange(what.me ^ mask, 0, what.me ^ mask, 0);
  if (helps) builder.send_and_wait(what.me + power, 0);
}

/// Dissemination: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", 1988.
void disseminating_barrier(const Collective& what, Builder& builder) {
  for (std::uint32_t distance = 1; distance < what.size; distance *= 2)
    builder.exchange(next_rank(what, distance), 0, rank_before(what, distance), 0);
}

void tree_barrier(const Collective& what, Builder& builder) {
  const Branches tree = in_order_binomial_tree(what.me, what.size, 0);
  for (const std::uint32_t child : tree.children) builder.receive_and_wait(child, 0);
  if (tree.parent != no_rank) builder.send_and_wait(tree.parent, 0);
  if (tree.parent != no_rank) builder.receive_and_wait(tree.parent, 0);
  for (std::size_t i = tree.children.size(); i > 0; --i) builder.send_and_wait(tree.children[i - 1], 0);
}

}  // namespace

void add_barrier(const Collective& what, Algorithm algorithm, Builder& builder) {
  switch (algorithm) {
    case Algorithm::linear:
      return linear_barrier(what, builder);
    case Algorithm::recursive_doubling:
      return doubling_barrier(what, builder);
    case Algorithm::tree:
      return tree_barrier(what, builder);
    default:
      return disseminating_barrier(what, builder);
  }
}

}  // namespace holdfast::simulate::job
