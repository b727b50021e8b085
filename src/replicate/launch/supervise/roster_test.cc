#include "replicate/launch/supervise/roster.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

using replicate::RollCall;
using Kind = RollCall::Kind;

/// A job whose members are all past MPI_Init.
Roster started(int ranks, int degree, bool goes_on) {
  Roster roster(ranks, degree, goes_on);
  for (int m = 0; m < ranks * degree; ++m) EXPECT_EQ(roster.join(m / degree, m % degree), m);
  for (int m = 0; m < ranks * degree; ++m) roster.hear(m, {Kind::ready});
  roster.outgoing().clear();
  return roster;
}

RollCall exits(int status) {
  return {Kind::exit, -1, status, {}, {}};
}

TEST(Roster, StrangersAndSecondComersAreNobody) {
  Roster roster(2, 3, true);
  EXPECT_EQ(roster.join(1, 2), 5);
  EXPECT_EQ(roster.join(1, 2), 5) << "a shell has started the program";
  roster.hear(5, {Kind::starting});
  EXPECT_EQ(roster.join(1, 2), -1);
  EXPECT_EQ(roster.join(2, 0), -1);
  EXPECT_EQ(roster.join(0, 3), -1);
  EXPECT_EQ(roster.join(-1, 0), -1);
}

TEST(Roster, ADeathTakesOutTheReplicaAndEverybodyHearsOfItOnce) {
  Roster roster = started(2, 3, true);
  roster.close(4, 1.5);  // rank 1 replica 1
  EXPECT_EQ(roster.outgoing().size(), 5U);
  for (const auto& letter : roster.outgoing()) EXPECT_EQ(letter.message, (RollCall{Kind::gone, -1, 1, {}, {}}));
  roster.outgoing().clear();
  roster.close(1, 1.6);  // its companion leaves
  EXPECT_TRUE(roster.outgoing().empty());
  ASSERT_EQ(roster.deaths().size(), 1U);
  EXPECT_EQ(roster.deaths()[0].degree_left, 2);
  EXPECT_EQ(roster.leader(), 0);
  roster.close(0, 2);
  EXPECT_EQ(roster.leader(), 2);
  EXPECT_TRUE(roster.verdict().empty());
  roster.close(2, 3);
  EXPECT_EQ(roster.leader(), -1);
  EXPECT_FALSE(roster.verdict().empty());
}

TEST(Roster, TheEndIsToldWhenAllThatAreLeftHaveReachedIt) {
  for (const bool with_death : {false, true}) {
    Roster roster = started(2, 2, true);
    if (with_death) roster.close(3, 1);
    roster.outgoing().clear();
    for (const int m : {0, 1}) roster.hear(m, {Kind::finishing});
    EXPECT_TRUE(roster.outgoing().empty());
    roster.hear(2, {Kind::finishing});
    if (!with_death) roster.hear(3, {Kind::finishing});
    ASSERT_EQ(roster.outgoing().size(), with_death ? 2U : 4U);
    for (const auto& letter : roster.outgoing())
      EXPECT_EQ(letter.message.kind, with_death ? Kind::leave : Kind::finalize);
  }
}

TEST(Roster, ADeathIsWhatTheLastOneWaitedFor) {
  Roster roster = started(1, 3, true);
  roster.hear(0, {Kind::finishing});
  roster.hear(2, {Kind::finishing});
  roster.outgoing().clear();
  roster.close(1, 4);
  ASSERT_EQ(roster.outgoing().size(), 4U);
  EXPECT_EQ(roster.outgoing()[0].message.kind, Kind::gone);
  EXPECT_EQ(roster.outgoing()[2].message.kind, Kind::leave);
  for (const int m : {0, 2}) {
    roster.hear(m, exits(0));
    EXPECT_FALSE(roster.over());
    roster.close(m, 5);
  }
  EXPECT_TRUE(roster.over());
  EXPECT_TRUE(roster.verdict().empty());
  EXPECT_EQ(roster.deaths().size(), 1U);
}

TEST(Roster, IsOverAfterADeathAlone) {
  Roster well = started(1, 2, true);
  for (const int m : {0, 1}) {
    well.hear(m, {Kind::finishing});
    well.hear(m, {Kind::finished});
    well.hear(m, exits(0));
    well.close(m, 1);
  }
  EXPECT_FALSE(well.over()) << "the launcher tells";

  Roster silent = started(1, 2, true);
  silent.close(0, 1);
  silent.hear(1, {Kind::finishing});
  silent.close(1, 2);
  EXPECT_FALSE(silent.over()) << "one has not said how it ended";
}

TEST(Roster, DeathsThatCannotBeSurvivedEndTheJob) {
  Roster early(1, 2, true);
  early.join(0, 0);
  early.join(0, 1);
  for (const int m : {0, 1}) early.hear(m, {Kind::starting});
  early.hear(1, {Kind::ready});
  early.close(0, 1);
  EXPECT_NE(early.verdict().find("before MPI_Init"), std::string::npos);

  Roster late = started(1, 2, true);
  late.hear(0, {Kind::finishing});
  late.hear(1, {Kind::finishing});
  late.close(1, 1);
  EXPECT_NE(late.verdict().find("MPI_Finalize"), std::string::npos);
}

TEST(Roster, NobodyLeavesMpiInitBeforeAllAreReady) {
  for (const bool goes_on : {true, false}) {
    Roster roster(2, 2, goes_on);
    for (int m = 0; m < 4; ++m) roster.join(m / 2, m % 2);
    for (const int m : {3, 0, 2}) roster.hear(m, {Kind::ready});
    EXPECT_TRUE(roster.outgoing().empty());
    roster.hear(1, {Kind::ready});
    ASSERT_EQ(roster.outgoing().size(), goes_on ? 4U : 0U);
    for (const auto& letter : roster.outgoing()) EXPECT_EQ(letter.message.kind, Kind::started);
    roster.outgoing().clear();
    roster.hear(1, {Kind::ready});
    EXPECT_TRUE(roster.outgoing().empty()) << "told once";
    roster.close(3, 1);
    EXPECT_TRUE(roster.verdict().empty());
  }
}

TEST(Roster, WhatAProcessFoundEndsTheJobAndIsNoDeath) {
  Roster roster = started(1, 3, true);
  roster.hear(1, {Kind::failed});
  EXPECT_FALSE(roster.verdict().empty());
  roster.close(1, 1);
  EXPECT_TRUE(roster.deaths().empty());
}

TEST(Roster, AProgramThatEndsWithoutMpiIsNoDeath) {
  Roster roster(1, 2, true);
  for (const int m : {0, 1}) {
    EXPECT_EQ(roster.join(0, m), m);
    roster.hear(m, exits(0));
    roster.close(m, 0.1);
  }
  EXPECT_TRUE(roster.deaths().empty());
  EXPECT_TRUE(roster.verdict().empty());
}

TEST(Roster, AShellThatBecomesTheProgramIsNoDeath) {
  for (const bool goes_on : {true, false}) {
    Roster roster(1, 2, goes_on);
    for (const int m : {0, 1}) EXPECT_EQ(roster.join(0, m), m);
    roster.close(1, 0.1);
    EXPECT_TRUE(roster.verdict().empty());
    EXPECT_EQ(roster.join(0, 1), 1) << "it comes back as the program";
    for (const int m : {0, 1}) roster.hear(m, {Kind::starting});
    EXPECT_TRUE(roster.starting());
    for (const int m : {0, 1}) roster.hear(m, {Kind::ready});
    EXPECT_FALSE(roster.starting());
    EXPECT_TRUE(roster.deaths().empty());
  }
}

TEST(Roster, OneThatNeverComesEndsTheJob) {
  for (const bool goes_on : {true, false}) {
    Roster roster(1, 2, goes_on);
    roster.join(0, 0);
    EXPECT_FALSE(roster.starting());
    roster.hear(0, {Kind::starting});
    EXPECT_TRUE(roster.starting());
    roster.look(1, std::set<int>{0, 1}, 60);
    for (double now = 2; now < 5; now += 0.25) roster.look(now, std::set<int>{0}, 60);
    EXPECT_NE(roster.verdict().find("rank 0 replica 1 died or did not come"), std::string::npos);
    EXPECT_FALSE(roster.programs_doing());
    ASSERT_EQ(roster.deaths().size(), 1U);
    EXPECT_EQ(roster.deaths()[0].replica, 1);
    EXPECT_FALSE(roster.starting());
  }
}

TEST(Roster, WhereTheLauncherEndsTheJobTheFirstDeathIsTheCause) {
  Roster roster = started(2, 2, false);
  roster.close(3, 1);
  roster.close(0, 1.1);
  ASSERT_EQ(roster.deaths().size(), 1U);
  EXPECT_EQ(roster.deaths()[0].rank, 1);
  EXPECT_TRUE(roster.outgoing().empty());

  Roster program = started(2, 2, false);
  program.hear(2, exits(3));
  program.close(2, 1);
  program.close(0, 1.1);
  EXPECT_TRUE(program.deaths().empty());
}

TEST(Roster, AShellThatBecomesTheProgramHidesNoDeath) {
  Roster roster(2, 2, false);
  for (int m = 0; m < 4; ++m) roster.join(m / 2, m % 2);
  roster.close(0, 1);  // becomes the program
  roster.close(3, 1.1);
  roster.join(0, 0);
  EXPECT_FALSE(roster.died_at_start()) << "nobody waits for it yet";
  roster.hear(0, {Kind::starting});
  EXPECT_TRUE(roster.died_at_start());
  roster.close(1, 1.2);
  ASSERT_EQ(roster.deaths().size(), 1U);
  EXPECT_EQ(roster.deaths()[0].rank, 1);
  EXPECT_EQ(roster.deaths()[0].replica, 1);
}

TEST(Roster, TheStatusIsThatOfMostOfThoseThatAreLeft) {
  Roster roster = started(2, 3, true);
  EXPECT_EQ(roster.status(), std::nullopt);
  roster.close(0, 1);
  for (const int m : {1, 2, 4, 5}) roster.hear(m, {Kind::finished});
  for (const int m : {1, 2}) roster.hear(m, exits(0));
  for (const int m : {4, 5}) roster.hear(m, exits(7));
  EXPECT_EQ(roster.status(), 7);
}

TEST(Roster, OneThatIsPastMpiNeedNotSayItsStatus) {
  Roster roster = started(1, 3, true);
  EXPECT_EQ(roster.status(), std::nullopt);
  for (const int m : {0, 1, 2}) roster.hear(m, {Kind::finished});
  EXPECT_EQ(roster.status(), 0);
}

TEST(Roster, DeathsInWords) {
  EXPECT_EQ(death_line({1, 2, 3.25, 2}),
            "rank 1 replica 2 died 3.2 s after the start: replica 2 is taken out, 2 replicas go on, corruption is "
            "detected and no longer corrected");
  EXPECT_EQ(death_line({0, 0, 1, 1}),
            "rank 0 replica 0 died 1.0 s after the start: replica 0 is taken out, 1 replica goes on, unverified from "
            "here on");
  EXPECT_EQ(death_record({{1, 0, 2, 1}}).dump(),
            R"([{"rank":1,"replica":0,"seconds":2.0,"degree_left":1,"diverged":false}])");
}

RollCall accuses(int replica) {
  return {Kind::accuse, -1, replica, {}, {}};
}

TEST(Roster, OneThatMostReplicasOfItsRankAccuseIsTakenOut) {
  Roster roster = started(2, 3, true);
  roster.hear(3, accuses(2), 1);  // rank 1 replica 0
  roster.hear(3, accuses(2), 1);  // twice is once
  roster.hear(5, accuses(0), 1);  // and the one accused accuses the others
  roster.hear(5, accuses(1), 1);
  roster.hear(1, accuses(2), 1);  // another rank knows nothing of it
  EXPECT_TRUE(roster.deaths().empty());
  roster.hear(4, accuses(2), 2.5);
  ASSERT_EQ(roster.deaths().size(), 1u);
  EXPECT_TRUE(roster.deaths()[0].diverged);
  EXPECT_EQ(roster.deaths()[0].rank, 1);
  EXPECT_TRUE(roster.gone(2));
  EXPECT_EQ(roster.verdict(), "");
  EXPECT_EQ(death_line(roster.deaths()[0]),
            "rank 1 replica 2 went another way than most replicas 2.5 s after the start: replica 2 is taken out, 2 "
            "replicas go on, corruption is detected and no longer corrected");
  for (const int m : {3, 4}) roster.hear(m, accuses(m - 3 == 0 ? 1 : 0), 3);
  EXPECT_EQ(roster.deaths().size(), 1u) << "of two nobody is in a minority";
}

TEST(Roster, WhoIsGoneHasNoVoice) {
  Roster roster = started(1, 5, true);
  roster.close(3, 1);
  roster.close(4, 1);
  roster.hear(3, accuses(0), 2);
  roster.hear(4, accuses(0), 2);
  roster.hear(1, accuses(0), 2);
  EXPECT_FALSE(roster.gone(0)) << "one of the three that are left";
  roster.hear(2, accuses(0), 2);
  EXPECT_TRUE(roster.gone(0));
  EXPECT_EQ(roster.leader(), 1);
}

TEST(Roster, NobodyIsTakenOutWhereTheJobDoesNotGoOn) {
  Roster roster(1, 3, false);
  for (const int m : {0, 1, 2}) roster.join(0, m);
  for (const int m : {0, 1, 2}) roster.hear(m, {Kind::ready});
  for (const int m : {0, 1}) roster.hear(m, accuses(2), 1);
  for (const int wild : {-1, 7}) roster.hear(0, accuses(wild), 1);
  EXPECT_FALSE(roster.gone(2));
  EXPECT_TRUE(roster.deaths().empty());
}

TEST(Roster, WhoWaitsHearsWhetherWhomItWaitsForComputes) {
  Roster roster({2, 2}, true, 10);
  for (int m = 0; m < 4; ++m) roster.join(m / 2, m % 2);
  for (int m = 0; m < 4; ++m) roster.hear(m, {Kind::ready});
  const auto answer = [&](double seconds) {
    roster.outgoing().clear();
    roster.hear(1, {Kind::waits, 0, 0, {}, {}}, seconds);
    return roster.outgoing().front();
  };
  const auto works = [&](std::uint64_t used_ms, double seconds) {
    RollCall message{Kind::outside};
    message.used_ms = used_ms;
    message.points = 3;
    roster.hear(0, message, seconds);
  };
  EXPECT_EQ(answer(2).message, RollCall{Kind::idle});
  EXPECT_EQ(roster.outgoing().size(), 5U) << "all four are asked";
  EXPECT_EQ(roster.outgoing().back().message, RollCall{Kind::look});
  works(100, 2);
  EXPECT_EQ(answer(3).message, RollCall{Kind::idle});
  works(900, 3);
  EXPECT_EQ(answer(4).message, RollCall{Kind::working});
  EXPECT_EQ(roster.outgoing().front().member, 1);
  roster.hear(0, {Kind::inside}, 4);
  EXPECT_EQ(answer(5).message, RollCall{Kind::idle});
}

}  // namespace
}  // namespace holdfast::launch
