#include "replicate/launch/supervise/patience.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

constexpr double limit_s = 10;

/// Two ranks of two replicas: members 0 and 1 play rank 0, 2 and 3 rank 1.
Patience two_by_two() {
  return Patience(2, 2, limit_s);
}

/// Seen twice, with so much processor time between.
void runs(Patience& patience, int member, double from, double to, std::uint64_t used_ms, std::uint64_t points = 5) {
  patience.outside(member, 100, points, from);
  patience.outside(member, 100 + used_ms, points, to);
}

TEST(Patience, OneThatComputesIsWaitedForAndOneThatSleepsIsNot) {
  Patience patience = two_by_two();
  patience.waits(1, 0, 0, 3);
  EXPECT_FALSE(patience.waits_for_work(1, 3)) << "nothing is known yet";
  patience.outside(0, 100, 5, 3);
  EXPECT_FALSE(patience.waits_for_work(1, 3)) << "seen once";
  patience.outside(0, 2000, 5, 6);
  EXPECT_TRUE(patience.waits_for_work(1, 6));
  patience.outside(0, 2001, 5, 9);
  EXPECT_FALSE(patience.waits_for_work(1, 9)) << "a millisecond in three seconds is no work";
}

TEST(Patience, OnlyThoseCountForWhomItWaits) {
  Patience patience = two_by_two();
  patience.waits(1, 0, 0, 3);
  patience.inside(0);
  runs(patience, 3, 3, 6, 2900);
  patience.waits(0, 0, 1, 6);
  EXPECT_FALSE(patience.waits_for_work(1, 6)) << "0 waits for 1 and 1 for 0, whatever 3 does";
}

TEST(Patience, ChainsAreFollowed) {
  Patience patience = two_by_two();
  patience.waits(1, 0, 0, 3);
  patience.waits(0, 1, -1, 3);
  patience.inside(2);
  runs(patience, 3, 3, 6, 2900);
  EXPECT_TRUE(patience.waits_for_work(1, 6)) << "by way of 0, which waits for any replica of rank 1";
  patience.outside(0, 100, 5, 6);
  EXPECT_FALSE(patience.waits_for_work(1, 6)) << "0 waits no longer, and does nothing";
}

TEST(Patience, OneInsideMpiMayWaitForItsWorld) {
  Patience patience = two_by_two();
  patience.waits(1, 0, 0, 3);
  patience.inside(0);
  runs(patience, 2, 3, 6, 2900);
  EXPECT_TRUE(patience.waits_for_work(1, 6)) << "0 has not said for whom it waits; 2 is of its world";
}

TEST(Patience, AnyRankMeansItsOwnWorld) {
  Patience patience = two_by_two();
  patience.waits(1, -1, -1, 3);
  runs(patience, 2, 3, 6, 2900);
  EXPECT_FALSE(patience.waits_for_work(1, 6)) << "2 is of the other world";
  runs(patience, 3, 3, 6, 2900);
  EXPECT_TRUE(patience.waits_for_work(1, 6));
}

TEST(Patience, WhoHasLostItsWayInALoopIsGivenUp) {
  Patience patience = two_by_two();
  double now = 0;
  std::uint64_t used_ms = 100;
  for (; now <= 10 * limit_s; now += 5, used_ms += 5000) {
    patience.waits(1, 0, 0, now);
    patience.outside(0, used_ms, 5, now);
    EXPECT_EQ(patience.waits_for_work(1, now), now > 0 && now < 10 * limit_s) << now;
  }
  patience.outside(0, used_ms, 6, now);  // it has made a call meanwhile
  patience.outside(0, used_ms + 5000, 6, now + 5);
  EXPECT_TRUE(patience.waits_for_work(1, now + 5));
}

TEST(Patience, WhatWasSaidLongAgoHoldsNoMore) {
  Patience patience = two_by_two();
  patience.waits(1, 0, 0, 3);
  runs(patience, 0, 3, 6, 2900);
  EXPECT_FALSE(patience.waits_for_work(1, 6 + limit_s + 1)) << "it has not answered since";
  patience.leave(0);
  EXPECT_FALSE(patience.waits_for_work(1, 6)) << "it is dead";
}

TEST(Patience, AllAreAskedNotTooOften) {
  Patience patience = two_by_two();
  EXPECT_TRUE(patience.waits(1, 0, 0, 3));
  EXPECT_FALSE(patience.waits(3, 1, 0, 3.1));
  EXPECT_TRUE(patience.waits(3, 1, 0, 3 + limit_s / 4));
}

}  // namespace
}  // namespace holdfast::launch
