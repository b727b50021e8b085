#include "simulate/job/trees.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace holdfast::simulate::job {
namespace {

using Make = std::function<Branches(std::uint32_t me, std::uint32_t size, std::uint32_t root)>;

/// Every rank is reached from the root, once, and parents and children agree.
void expect_tree(const Make& make) {
  for (std::uint32_t size = 1; size <= 40; ++size)
    for (std::uint32_t root = 0; root < size; root += 3) {
      std::set<std::uint32_t> reached{root};
      EXPECT_EQ(make(root, size, root).parent, no_rank);
      for (std::uint32_t rank = 0; rank < size; ++rank)
        for (const std::uint32_t child : make(rank, size, root).children) {
          ASSERT_LT(child, size);
          EXPECT_TRUE(reached.insert(child).second) << child << " of " << size << " from " << root;
          EXPECT_EQ(make(child, size, root).parent, rank) << child << " of " << size << " from " << root;
        }
      EXPECT_EQ(reached.size(), size);
    }
}

TEST(Trees, EachReachesAllOnce) {
  expect_tree(chain);
  expect_tree(binary_tree);
  expect_tree(binomial_tree);
  expect_tree(in_order_binomial_tree);
  expect_tree([](auto me, auto size, auto root) { return knomial_tree(me, size, root, 4); });
  expect_tree([](auto me, auto size, auto root) { return knomial_tree(me, size, root, 2); });
}

TEST(Trees, InOrderReachesAllFromTheLast) {
  for (std::uint32_t size = 1; size <= 40; ++size) {
    std::set<std::uint32_t> reached{size - 1};
    for (std::uint32_t rank = 0; rank < size; ++rank)
      for (const std::uint32_t child : in_order_binary_tree(rank, size).children) {
        EXPECT_TRUE(reached.insert(child).second) << child << " of " << size;
        EXPECT_EQ(in_order_binary_tree(child, size).parent, rank);
      }
    EXPECT_EQ(reached.size(), size);
  }
}

TEST(Trees, OfSevenByHand) {
  EXPECT_EQ(binary_tree(0, 7, 0).children, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(binary_tree(1, 7, 0).children, (std::vector<std::uint32_t>{3, 5}));
  EXPECT_EQ(binary_tree(2, 7, 0).children, (std::vector<std::uint32_t>{4, 6}));
  EXPECT_EQ(binomial_tree(0, 7, 0).children, (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(binomial_tree(5, 7, 0).parent, 1u);
  EXPECT_EQ(in_order_binomial_tree(5, 7, 0).parent, 4u);
  EXPECT_EQ(in_order_binary_tree(6, 7).children, (std::vector<std::uint32_t>{5, 2}));
  EXPECT_EQ(knomial_tree(0, 7, 0, 4).children, (std::vector<std::uint32_t>{4, 1, 2, 3}));
}

}  // namespace
}  // namespace holdfast::simulate::job
