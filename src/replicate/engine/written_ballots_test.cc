#include "replicate/engine/written_ballots.h"

#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

constexpr WrittenStretch first{7, 0, 0};

Ballot saying(std::uint64_t text) {
  return {{text, text}, 100, true};
}

TEST(WrittenBallots, AreCountedWhenAllHaveSpoken) {
  WrittenBallots ballots(3);
  const std::vector<char> gone(3, 0);
  EXPECT_FALSE(ballots.file(first, 2, saying(1), gone));
  EXPECT_FALSE(ballots.file(first, 0, saying(1), gone));
  EXPECT_EQ(ballots.waiting(), 1U);
  const auto all = ballots.file(first, 1, saying(2), gone);
  ASSERT_TRUE(all);
  EXPECT_EQ(vote(*all).winner, 0);
  EXPECT_EQ(ballots.waiting(), 0U);
}

TEST(WrittenBallots, StretchesAreToldApart) {
  WrittenBallots ballots(2);
  const std::vector<char> gone(2, 0);
  EXPECT_FALSE(ballots.file(first, 0, saying(1), gone));
  EXPECT_FALSE(ballots.file({7, 0, 1}, 1, saying(1), gone));
  EXPECT_FALSE(ballots.file({7, 1, 0}, 1, saying(1), gone));
  EXPECT_FALSE(ballots.file({8, 0, 0}, 1, saying(1), gone));
  EXPECT_EQ(ballots.waiting(), 4U);
  EXPECT_TRUE(vote(*ballots.file(first, 1, saying(1), gone)).unanimous);
}

TEST(WrittenBallots, OneThatIsGoneIsNotWaitedFor) {
  WrittenBallots ballots(3);
  std::vector<char> gone(3, 0);
  EXPECT_FALSE(ballots.file(first, 0, saying(1), gone));
  gone[1] = 1;
  const auto all = ballots.file(first, 2, saying(1), gone);
  ASSERT_TRUE(all);
  EXPECT_FALSE((*all)[1].known);
}

}  // namespace
}  // namespace holdfast::replicate
