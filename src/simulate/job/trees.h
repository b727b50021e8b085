#pragma once

#include <cstdint>
#include <vector>

/// The trees along which collectives go (Open MPI's coll_base_topo.c names them so). Ranks are those of the
/// communicator.
namespace holdfast::simulate::job {

inline constexpr std::uint32_t no_rank = 0xffffffff;

struct Branches {
  std::uint32_t parent = no_rank;       ///< of the root: none
  std::vector<std::uint32_t> children;  ///< in the order in which they are served
};

/// me < size, root < size.
Branches chain(std::uint32_t me, std::uint32_t size, std::uint32_t root);
/// Level by level; the children of a rank stand as far on as its level is wide, and twice as far.
Branches binary_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root);
/// Ranks in order: those of the right subtree before those of the left one; the root is the last rank.
Branches in_order_binary_tree(std::uint32_t me, std::uint32_t size);
/// The parent lacks the highest bit; the nearest child first.
Branches binomial_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root);
/// The parent lacks the lowest bit, so that a subtree's ranks are consecutive; the nearest child first.
Branches in_order_binomial_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root);
/// The parent lacks the lowest digit other than 0; the farthest children first. radix >= 2.
Branches knomial_tree(std::uint32_t me, std::uint32_t size, std::uint32_t root, std::uint32_t radix);

}  // namespace holdfast::simulate::job
