#include "replicate/engine/standing.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::replicate {
namespace {

CallHistory after(const std::vector<std::uint32_t>& functions) {
  CallHistory history;
  for (const std::uint32_t function : functions) history.note({function, 1, 0, 9, 8});
  return history;
}

/// What a replica with this history answers to one with that.
Standing answer(const CallHistory& of, const CallHistory& to, bool waits_for_replicas) {
  return {of.count(), of.hash(), of.count() >= to.count() ? of.hash_after(to.count()) : std::nullopt,
          waits_for_replicas, false};
}

bool says(const CallHistory& own, bool own_waits, const CallHistory& other, bool other_waits) {
  return has_diverged({own, own_waits, false}, answer(other, own, other_waits));
}

TEST(Standing, CallsThatDifferAreSeenFromBothSidesWhoeverIsAhead) {
  const CallHistory most = after({1, 2, 3});
  const CallHistory odd = after({1, 4});
  EXPECT_TRUE(says(most, true, odd, false));
  EXPECT_TRUE(says(odd, false, most, true));
  EXPECT_TRUE(says(after({1, 2}), true, after({1, 4, 2, 3}), false));
}

TEST(Standing, WhoWaitsAlikeIsNotSuspected) {
  const CallHistory same = after({1, 2, 3});
  EXPECT_FALSE(says(same, true, same, true));
  EXPECT_FALSE(says(same, false, same, false));
  EXPECT_FALSE(says(same, false, same, true));
  EXPECT_FALSE(says(after({1, 2}), true, same, true)) << "it has come further in the same way";
}

TEST(Standing, OneThatStaysBehindWhileOthersWaitForItIs) {
  EXPECT_TRUE(says(after({1, 2, 3}), true, after({1, 2}), false));
  EXPECT_TRUE(says(after({1, 2, 3}), true, after({1, 2, 3}), false)) << "it waits in its own world";
  EXPECT_TRUE(says(after({1, 2, 3}), true, after({1, 2, 3, 4}), false)) << "it makes a call that no other makes";
  EXPECT_FALSE(says(after({1, 2, 3}), false, after({1, 2}), false)) << "nobody waits for it";
}

TEST(Standing, WhoDoesNotAnswerIsMissedByThoseThatWaitForIt) {
  const CallHistory own = after({1});
  EXPECT_TRUE(has_diverged({own, true, false}, std::nullopt));
  EXPECT_FALSE(has_diverged({own, false, false}, std::nullopt));
}

TEST(Standing, WhoPartedFromTheLeaderIsSuspectedByThoseThatDidNot) {
  const CallHistory same = after({1, 2});
  Standing parted = answer(same, same, true);
  parted.parted = true;
  EXPECT_TRUE(has_diverged({same, true, false}, parted));
  EXPECT_FALSE(has_diverged({same, true, true}, parted)) << "both parted: it is the leader who is odd";
}

TEST(Standing, CallsLongPastTellNothing) {
  CallHistory own;
  CallHistory other;
  other.note({7, 1, 0, 9, 8});
  for (std::uint32_t n = 0; n < 2 * CallHistory::kept; ++n) own.note({n, 1, 0, 9, 8});
  EXPECT_FALSE(made_other_calls(own, answer(other, own, false)));
}

/// Three replicas of one rank, of which the last one went another way in each of these ways: the membership takes out
/// whom two accuse.
TEST(Standing, OfThreeTheOddOneAloneIsAccusedTwice) {
  const CallHistory good = after({1, 2, 3, 4});
  struct Case {
    CallHistory odd;
    bool waits;
  };
  const Case cases[] = {{after({1, 2, 3, 5}), false},   {after({1, 2, 3, 5}), true},       {after({1, 2}), false},
                        {after({1, 2}), true},          {after({1, 9, 3, 4, 5, 6}), true}, {after({1, 2, 3, 4}), false},
                        {after({1, 2, 3, 4, 5}), false}};
  for (const Case& c : cases) {
    int against_odd = 0;
    int against_good = 0;
    for (int i = 0; i < 2; ++i) {
      against_odd += says(good, true, c.odd, c.waits);
      against_good += says(good, true, good, true) + says(c.odd, c.waits, good, true);
    }
    EXPECT_EQ(against_odd, 2);
    EXPECT_LE(against_good, 2) << "one for each of the two";
  }
}

}  // namespace
}  // namespace holdfast::replicate
