#include "replicate/engine/block_vote.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace holdfast::replicate {
namespace {

using Copy = std::vector<std::byte>;

std::optional<BlockVerdict> vote_on(const std::vector<Copy>& copies, const std::vector<std::size_t>& ends) {
  std::vector<std::span<const std::byte>> all;
  for (const Copy& copy : copies) all.emplace_back(copy);
  return vote_by_blocks(all, ends);
}

TEST(BlockVote, OneWrongBlockInEachOfTwoCopiesIsCorrected) {
  const Copy good{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Copy first = good;
  first[0] = std::byte{9};
  Copy second = good;
  second[3] = std::byte{9};
  const auto verdict = vote_on({first, second, good}, {2, 4});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->bytes, good);
  EXPECT_EQ(verdict->wrong, (std::vector<bool>{true, true, false}));
}

TEST(BlockVote, TwoWrongCopiesOfOneBlockHaveNoMajority) {
  const Copy good{std::byte{1}, std::byte{2}, std::byte{3}};
  Copy first = good;
  first[0] = std::byte{9};
  Copy second = good;
  second[1] = std::byte{9};
  EXPECT_FALSE(vote_on({first, second, good}, {2, 3})) << "bytes of different copies are never put together";
  EXPECT_TRUE(vote_on({first, second, good}, {1, 2, 3}));
}

TEST(BlockVote, HalfIsNoMajority) {
  const Copy a{std::byte{1}};
  const Copy b{std::byte{2}};
  EXPECT_FALSE(vote_on({a, a, b, b}, {1}));
  EXPECT_TRUE(vote_on({a, a, b, b, b}, {1}));
}

/// The right bytes, or nothing, whatever is corrupted: right exactly when every block is right in more than half.
TEST(BlockVote, IsRightOrSaysNothing) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t voters = 3 + random() % 4;
    const std::size_t blocks = 1 + random() % 6;
    const std::size_t length = 1 + random() % 5;
    Copy good(blocks * length);
    for (std::byte& byte : good) byte = static_cast<std::byte>(random() % 256);
    std::vector<Copy> copies(voters, good);
    std::vector<std::size_t> right(blocks, voters);
    for (std::size_t b = 0; b < blocks; ++b)
      for (std::size_t k = 0; k < voters; ++k)
        if (random() % 4 == 0) {  // each wrong in its own way
          copies[k][b * length] ^= static_cast<std::byte>(k + 1);
          --right[b];
        }
    std::vector<std::size_t> ends;
    for (std::size_t b = 1; b <= blocks; ++b) ends.push_back(b * length);
    bool possible = true;
    for (const std::size_t n : right) possible = possible && 2 * n > voters;
    const auto verdict = vote_on(copies, ends);
    ASSERT_EQ(verdict.has_value(), possible) << round;
    if (verdict) {
      ASSERT_EQ(verdict->bytes, good) << round;
    }
  }
}

}  // namespace
}  // namespace holdfast::replicate
