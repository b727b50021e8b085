#include "replicate/engine/pending_wildcards.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "replicate/engine/empty_message_for_tests.h"

namespace holdfast::replicate {
namespace {

/// Receives that are numbered backwards, so that their numbers say nothing of their order.
class PendingWildcardsTest : public ::testing::Test {
 protected:
  static constexpr int all = 10;

  static std::uint64_t number(int index) { return 1000 - static_cast<std::uint64_t>(index); }

  void SetUp() override {
    for (int i = 0; i < all; ++i) pending_.add(number(i), receives_[static_cast<std::size_t>(i)]);
  }

  std::vector<int> look(std::size_t most) {
    std::vector<int> indices;
    for (Verified* receive : pending_.in_turn(most))
      indices.push_back(static_cast<int>(static_cast<EmptyMessage*>(receive) - receives_.data()));
    return indices;
  }

  std::array<EmptyMessage, all> receives_;
  PendingWildcards pending_;
};

using Indices = std::vector<int>;

TEST_F(PendingWildcardsTest, FewAreAllLookedAtInPostingOrder) {
  EXPECT_EQ(look(10), (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(look(5), (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(PendingWildcardsTest, TheOldestAreLookedAtEachTimeAndTheOthersInTurn) {
  EXPECT_EQ(look(3), (Indices{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(look(3), (Indices{0, 1, 2, 6, 7, 8}));
  EXPECT_EQ(look(3), (Indices{0, 1, 2, 9}));
  EXPECT_EQ(look(3), (Indices{0, 1, 2, 3, 4, 5}));
}

TEST_F(PendingWildcardsTest, ThoseThatAreRemovedAreNotLookedAt) {
  EXPECT_EQ(look(3), (Indices{0, 1, 2, 3, 4, 5}));
  for (const int gone : {0, 2, 6}) EXPECT_TRUE(pending_.remove(number(gone)));
  EXPECT_FALSE(pending_.remove(number(6)));
  EXPECT_EQ(pending_.find(number(6)), nullptr);
  EXPECT_EQ(pending_.find(number(7)), &receives_[7]);
  EXPECT_EQ(look(3), (Indices{1, 3, 4, 7, 8, 9}));
  EXPECT_EQ(look(3), (Indices{1, 3, 4, 5, 7, 8}));
}

TEST_F(PendingWildcardsTest, ANumberThatComesAgainNamesTheNewReceive) {
  pending_.add(number(0), receives_[0]);
  EXPECT_EQ(pending_.size(), 10U);
  EXPECT_EQ(look(1), (Indices{1, 2}));
}

TEST_F(PendingWildcardsTest, EachIsLookedAtWhileOthersComeAndGo) {
  std::set<int> seen;
  for (int turn = 0; turn < 9; ++turn) {
    for (const int index : look(1)) seen.insert(index);
    pending_.remove(number(0));
    pending_.add(number(0), receives_[0]);
  }
  EXPECT_EQ(seen.size(), 10U);
}

}  // namespace
}  // namespace holdfast::replicate
