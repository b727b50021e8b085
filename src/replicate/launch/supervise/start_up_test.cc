#include "replicate/launch/supervise/start_up.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

using Living = std::optional<std::set<int>>;
constexpr double limit_s = 60;

/// Two ranks of two replicas: members 0 and 1 play rank 0, 2 and 3 rank 1.
StartUp two_by_two(bool goes_on = false) {
  return StartUp({2, 2}, 2, goes_on);
}

/// The first moment at which somebody is found missing, looking four times a second; -1: never.
double found_at(StartUp& start, const Living& living, double until = 200) {
  for (double now = 0; now < until; now += 0.25)
    if (start.look(now, living, limit_s)) return now;
  return -1;
}

void come_and_enter(StartUp& start, std::initializer_list<int> members) {
  for (const int m : members) {
    start.come(m);
    start.enter(m);
  }
}

TEST(StartUp, NobodyIsMissedBeforeSomebodyWaits) {
  StartUp start = two_by_two();
  for (const int m : {0, 1, 2}) start.come(m);
  EXPECT_EQ(found_at(start, std::nullopt), -1) << "they have not called MPI_Init";
  EXPECT_EQ(found_at(start, std::set<int>{0, 1, 2}), -1);
}

TEST(StartUp, OneThatDiedBeforeItSaidAWordIsSeenToBeGone) {
  StartUp start = two_by_two();
  come_and_enter(start, {0, 1, 2});
  EXPECT_FALSE(start.look(0, std::set<int>{0, 1, 2, 3}, limit_s)) << "it is on its way";
  const double found = found_at(start, std::set<int>{0, 1, 2});
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 3);
}

TEST(StartUp, OneThatWasNeverSeenHasTimeToBegin) {
  StartUp start = two_by_two();
  come_and_enter(start, {0, 1, 2});
  const double found = found_at(start, std::set<int>{0, 1, 2});
  EXPECT_GT(found, 9);
  EXPECT_LT(found, 20);
}

TEST(StartUp, AsLongAsNewOnesAppearTheNextMayStillCome) {
  // 192 processes on two cores: the launcher was seen to start twelve a second.
  constexpr int ranks = 40;
  StartUp start(std::vector<int>(ranks, 2), 2, false);
  come_and_enter(start, {0});
  std::set<int> living{0};
  double now = 0;
  for (int m = 1; m < 2 * ranks - 1; ++m)
    for (const double next = now + 1; now < next; now += 0.25) {
      living.insert(m);
      ASSERT_FALSE(start.look(now, living, limit_s)) << now;
    }
  double found = -1;
  for (const double last = now; found < 0 && now < last + 30; now += 0.25)
    if (start.look(now, living, limit_s)) found = now - last;
  EXPECT_GT(found, 8) << "since the last that appeared";
  EXPECT_LT(found, 20);
}

TEST(StartUp, WhereNobodySeesThemTheLimitCounts) {
  for (const Living& living : {Living(), Living(std::set<int>{})}) {  // several hosts, or processes of another parent
    StartUp start = two_by_two();
    come_and_enter(start, {0, 1, 2});
    const double found = found_at(start, living);
    EXPECT_GE(found, limit_s);
    EXPECT_LT(found, limit_s + 5);
  }
}

TEST(StartUp, AShellThatBecomesTheProgramIsNotMissed) {
  StartUp start = two_by_two();
  come_and_enter(start, {0, 1, 2});
  start.come(3);
  start.leave(3, std::nullopt, 0.1);
  EXPECT_FALSE(start.look(0.2, std::set<int>{0, 1, 2, 3}, limit_s));
  EXPECT_FALSE(start.look(3, std::set<int>{0, 1, 2, 3}, limit_s));
  come_and_enter(start, {3});
  EXPECT_EQ(found_at(start, std::set<int>{0, 1, 2, 3}), -1);
}

TEST(StartUp, ADeathOfOneReplicaIsNotTheProgramsDoing) {
  StartUp start = two_by_two();
  come_and_enter(start, {0, 1, 3});
  start.come(2);
  start.leave(2, std::nullopt, 0.5);
  for (double now = 1; now < 20; now += 0.25) {
    const auto found = start.look(now, std::set<int>{0, 1, 3}, limit_s);
    if (!found) continue;
    EXPECT_EQ(found->member, 2);
    EXPECT_EQ(found->seconds, 0.5);
    EXPECT_FALSE(found->alike);
    return;
  }
  FAIL() << "it was not found";
}

TEST(StartUp, AllReplicasOfARankThatEndAreTheProgramsDoing) {
  for (const std::optional<int> status : {std::optional<int>(1), std::optional<int>()}) {
    StartUp start = two_by_two();
    come_and_enter(start, {0, 1});
    for (const int m : {2, 3}) {
      start.come(m);
      start.leave(m, status, 0.5);
    }
    std::optional<StartUp::Missing> found;
    for (double now = 1; now < 20 && !found; now += 0.25) found = start.look(now, std::set<int>{0, 1}, limit_s);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->alike);
    EXPECT_EQ(found->status, status);
  }
}

TEST(StartUp, ALauncherThatEndsAllIsNotTheProgramsDoing) {
  StartUp start = two_by_two();
  come_and_enter(start, {0, 1});
  for (const int m : {2, 3}) {
    start.come(m);
    start.leave(m, std::nullopt, 0.1);
  }
  for (double now = 0.2; now < 1.1; now += 0.1) EXPECT_FALSE(start.look(now, std::set<int>{0, 1}, limit_s)) << now;
  for (const int m : {0, 1}) start.leave(m, std::nullopt, 1.1);
  for (double now = 1.2; now < 20; now += 0.25) EXPECT_FALSE(start.look(now, std::set<int>{}, limit_s)) << now;
}

TEST(StartUp, ALauncherThatGoesOnEndsNobody) {
  for (const bool fails : {false, true}) {  // Open MPI 5 fails in MPI_Init where others have ended
    StartUp start = two_by_two(true);
    come_and_enter(start, {0, 1});
    for (const int m : {2, 3}) {
      start.come(m);
      start.leave(m, std::nullopt, 0.1);
    }
    EXPECT_TRUE(start.misses_somebody());
    EXPECT_FALSE(start.look(0.1, std::set<int>{0, 1}, limit_s));
    EXPECT_FALSE(start.look(0.15, std::set<int>{0, 1}, limit_s)) << "they may be becoming the program";
    for (int m = 0; m < 2 && fails; ++m) start.leave(m, 1, 0.2);
    const auto found = start.look(0.4, fails ? std::set<int>{} : std::set<int>{0, 1}, limit_s);
    ASSERT_TRUE(found) << fails;
    EXPECT_EQ(found->member, 2);
    EXPECT_TRUE(found->alike);
  }
}

TEST(StartUp, AProcessThatIsBecomingAnotherIsNotMissed) {
  StartUp start = two_by_two(true);
  come_and_enter(start, {0, 1});
  for (const int m : {2, 3}) {
    start.come(m);
    start.leave(m, std::nullopt, 0.1);
  }
  for (double now = 0.1; now < 20; now += 0.125) {  // every other look finds them
    const bool seen = static_cast<int>(now * 8) % 2 == 0;
    EXPECT_FALSE(start.look(now, seen ? std::set<int>{0, 1, 2, 3} : std::set<int>{0, 1}, limit_s)) << now;
  }
}

TEST(StartUp, WithALostLauncherNothingIsTheProgramsDoing) {
  StartUp start = two_by_two(true);
  come_and_enter(start, {0, 1});
  EXPECT_FALSE(start.misses_somebody());
  EXPECT_FALSE(start.conclude(false));
  for (const int m : {3, 2, 0, 1}) {
    if (m > 1) start.come(m);
    start.leave(m, std::nullopt, 0.4 - 0.1 * m);
  }
  for (const bool lost : {false, true}) {
    const auto found = start.conclude(lost);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->member, 3);
    EXPECT_EQ(found->alike, !lost);
  }
}

TEST(StartUp, TheEarliestEndIsTheCauseOfThoseThatFollow) {
  // Open MPI 5 fails in MPI_Init where a peer has ended before.
  StartUp start = two_by_two();
  come_and_enter(start, {0, 1});
  for (const int m : {2, 3}) start.come(m);
  start.leave(2, 1, 0.3);
  start.leave(3, 1, 0.35);
  start.leave(0, std::nullopt, 0.4);
  std::optional<StartUp::Missing> found;
  for (double now = 0.4; now < 20 && !found; now += 0.25) found = start.look(now, std::set<int>{1}, limit_s);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->member, 2);
  EXPECT_TRUE(found->alike);
  EXPECT_EQ(found->status, 1);
}

TEST(StartUp, AReplicaThatIsSlowMayStillEndAsTheOtherHas) {
  StartUp start = two_by_two();
  come_and_enter(start, {0, 1});
  for (const int m : {2, 3}) start.come(m);
  start.leave(2, 1, 0);
  const std::set<int> living{0, 1, 3};
  for (double now = 0; now < 5; now += 0.25) EXPECT_FALSE(start.look(now, living, limit_s)) << now;
  start.leave(3, 1, 5);
  std::optional<StartUp::Missing> found;
  for (double now = 5; now < 8 && !found; now += 0.25) found = start.look(now, std::set<int>{0, 1}, limit_s);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->alike);
}

TEST(StartUp, ReplicasThatARankDoesNotHaveAreNotMissed) {
  StartUp start({1, 2}, 2, false);
  come_and_enter(start, {0, 2, 3});
  EXPECT_EQ(found_at(start, std::nullopt), -1);
}

}  // namespace
}  // namespace holdfast::launch
