#include "simulate/job/trees.h"

namespace holdfast::simulate::job {
namespace {

/// Ranks counted from the root on.
struct Shifted {
  std::uint32_t size, root;
  std::uint32_t own(std::uint32_t rank) const { return (rank + size - root) % size; }
  std::uint32_t rank(std::uint32_t own) const { return (own + root) % size; }
};

}  // namespace

Branches chain(std::uint32_t me, std::uint32_t size, std::uint32_t root) {
  const Shifted ranks{size, root};
  const std::uint32_t own = ranks.own(me);
  Branches branches;
  if (own > 0) branches.parent = ranks.rank(own - 1);
  if (own + 1 < size) branches.children.push_back(ranks.rank(own + 1));
  return branches;
}

Branches binary_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root) {
  const Shifted ranks{size, root};
  const std::uint32_t own = ranks.own(me);
  std::uint32_t width = 1;  // of my level, which begins at width - 1
  while (own >= 2 * width - 1) width *= 2;
  Branches branches;
  for (const std::uint32_t child : {own + width, own + 2 * width})
    if (child < size) branches.children.push_back(ranks.rank(child));
  if (own == 0) return branches;
  const std::uint32_t above = width / 2;
  std::uint32_t parent = own - above;
  if (parent >= width - 1) parent -= above;
  branches.parent = ranks.rank(parent);
  return branches;
}

Branches in_order_binary_tree(std::uint32_t me, std::uint32_t size) {
  std::uint32_t first = 0;  // of the subtree that I am in, whose root is its last rank
  std::uint32_t parent = no_rank;
  while (true) {
    const std::uint32_t root = first + size - 1;
    const std::uint32_t right = size / 2;  // ranks of the right subtree, which come first
    const std::uint32_t left = size - 1 - right;
    Branches branches;
    branches.parent = parent;
    if (left > 0) branches.children.push_back(root - 1);
    if (right > 0 && size > 1) branches.children.push_back(first + right - 1);
    if (me == root) return branches;
    parent = root;
    if (me < first + right) {
      size = right;
    } else {
      first += right;
      size = left;
    }
  }
}

Branches binomial_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root) {
  const Shifted ranks{size, root};
  const std::uint32_t own = ranks.own(me);
  std::uint32_t mask = 1;
  while (mask <= own) mask *= 2;
  Branches branches;
  if (own > 0) branches.parent = ranks.rank(own - mask / 2);
  for (; own + mask < size; mask *= 2) branches.children.push_back(ranks.rank(own + mask));
  return branches;
}

Branches in_order_binomial_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root) {
  const Shifted ranks{size, root};
  const std::uint32_t own = ranks.own(me);
  Branches branches;
  for (std::uint32_t mask = 1; mask < size; mask *= 2) {
    if ((own & mask) != 0) {
      branches.parent = ranks.rank(own - mask);
      break;
    }
    if (own + mask < size) branches.children.push_back(ranks.rank(own + mask));
  }
  return branches;
}

Branches knomial_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root, std::uint32_t radix) {
  const Shifted ranks{size, root};
  const std::uint32_t own = ranks.own(me);
  Branches branches;
  std::uint64_t unit = 1;
  for (; unit < size; unit *= radix) {
    if (own % (unit * radix) == 0) continue;
    branches.parent = ranks.rank(static_cast<std::uint32_t>(own / (unit * radix) * (unit * radix)));
    break;
  }
  for (unit /= radix; unit > 0; unit /= radix)
    for (std::uint64_t digit = 1; digit < radix; ++digit)
      if (own + unit * digit < size)
        branches.children.push_back(ranks.rank(static_cast<std::uint32_t>(own + unit * digit)));
  return branches;
}

}  // namespace holdfast::simulate::job
