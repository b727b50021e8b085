#include "replicate/engine/vote.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace holdfast::replicate {
namespace {

/// Values 0..3 are ballots, 4 is a replica that cannot say. 2 differs from 1 in the length only, 3 in the high word
/// only.
Ballot ballot(int value) {
  static const Ballot ballots[] = {
      {{10, 0}, 8, true}, {{11, 0}, 8, true}, {{11, 0}, 9, true}, {{11, 1}, 8, true}, {{10, 0}, 8, false}};
  return ballots[value];
}

std::optional<int> majority_value(const std::vector<int>& values) {
  std::map<int, std::size_t> counts;
  for (int value : values)
    if (value != 4) ++counts[value];
  for (auto [value, count] : counts)
    if (count > values.size() / 2) return value;
  return std::nullopt;
}

class VoteOverAllBallots : public testing::TestWithParam<int> {
 protected:
  template <class Check>
  void for_all(Check check) {
    std::vector<int> values(static_cast<std::size_t>(GetParam()), 0);
    while (true) {
      std::vector<Ballot> ballots;
      for (int value : values) ballots.push_back(ballot(value));
      check(values, ballots);
      std::size_t digit = 0;
      while (digit < values.size() && ++values[digit] == 5) values[digit++] = 0;
      if (digit == values.size()) return;
    }
  }
};

TEST_P(VoteOverAllBallots, FindsExactlyTheStrictMajority) {
  for_all([](const std::vector<int>& values, const std::vector<Ballot>& ballots) {
    const Verdict verdict = vote(ballots);
    const std::optional<int> expected = majority_value(values);
    ASSERT_EQ(verdict.winner >= 0, expected.has_value()) << testing::PrintToString(values);
    if (!expected) {
      ASSERT_FALSE(verdict.unanimous);
      return;
    }
    ASSERT_EQ(values[static_cast<std::size_t>(verdict.winner)], *expected);
    const bool same = std::set<int>(values.begin(), values.end()).size() == 1;
    ASSERT_EQ(verdict.unanimous, same) << testing::PrintToString(values);
  });
}

TEST_P(VoteOverAllBallots, TheHolderIsTheNextAboveWithTheMajoritysCopy) {
  for_all([](const std::vector<int>& values, const std::vector<Ballot>& ballots) {
    const Verdict verdict = vote(ballots);
    if (verdict.winner < 0) return;
    const int wanted = *majority_value(values);
    const int replicas = static_cast<int>(values.size());
    for (int loser = 0; loser < replicas; ++loser) {
      if (values[static_cast<std::size_t>(loser)] == wanted) continue;
      const int holder = holder_for(loser, ballots[verdict.winner], ballots);
      ASSERT_EQ(values[static_cast<std::size_t>(holder)], wanted);
      for (int between = (loser + 1) % replicas; between != holder; between = (between + 1) % replicas)
        ASSERT_NE(values[static_cast<std::size_t>(between)], wanted) << testing::PrintToString(values);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, VoteOverAllBallots, testing::Range(1, 7));

TEST(Vote, NobodyWinsAnEmptyVote) {
  EXPECT_EQ(vote({}).winner, -1);
  EXPECT_FALSE(vote({}).unanimous);
}

}  // namespace
}  // namespace holdfast::replicate
