#include "replicate/launch/supervise/membership.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

using replicate::MembershipMessage;
using Kind = MembershipMessage::Kind;

/// A job whose members are all past MPI_Init.
JobMembership started(int ranks, int degree, bool goes_on) {
  JobMembership membership(ranks, degree, goes_on);
  for (int m = 0; m < ranks * degree; ++m) EXPECT_EQ(membership.join(m / degree, m % degree), m);
  for (int m = 0; m < ranks * degree; ++m) membership.hear(m, {Kind::ready});
  membership.outgoing().clear();
  return membership;
}

MembershipMessage exits(int status) {
  return {Kind::exit, -1, status, {}, {}};
}

TEST(JobMembership, ThoseWhoAreEndedForALateStatusHaveNotDied) {
  for (const int status : {0, 6}) {
    JobMembership membership = started(2, 2, false);
    for (const int m : {2, 3}) {
      membership.hear(m, {Kind::finished});
      membership.hear(m, exits(status));
      membership.close(m, 1);
    }
    membership.close(0, 1.1);
    EXPECT_EQ(membership.deaths().empty(), status != 0);
  }
}

TEST(JobMembership, StrangersAndSecondComersAreNobody) {
  JobMembership membership(2, 3, true);
  EXPECT_EQ(membership.join(1, 2), 5);
  EXPECT_EQ(membership.join(1, 2), 5) << "a shell has started the program";
  membership.hear(5, {Kind::starting});
  EXPECT_EQ(membership.join(1, 2), -1);
  EXPECT_EQ(membership.join(2, 0), -1);
  EXPECT_EQ(membership.join(0, 3), -1);
  EXPECT_EQ(membership.join(-1, 0), -1);
}

TEST(JobMembership, ADeathTakesOutTheReplicaAndEverybodyHearsOfItOnce) {
  JobMembership membership = started(2, 3, true);
  membership.close(4, 1.5);  // rank 1 replica 1
  EXPECT_EQ(membership.outgoing().size(), 5U);
  for (const auto& addressed : membership.outgoing())
    EXPECT_EQ(addressed.message, (MembershipMessage{Kind::gone, -1, 1, {}, {}}));
  membership.outgoing().clear();
  membership.close(1, 1.6);  // its companion leaves
  EXPECT_TRUE(membership.outgoing().empty());
  ASSERT_EQ(membership.deaths().size(), 1U);
  EXPECT_EQ(membership.deaths()[0].degree_left, 2);
  EXPECT_EQ(membership.leader(), 0);
  membership.close(0, 2);
  EXPECT_EQ(membership.leader(), 2);
  EXPECT_TRUE(membership.verdict().empty());
  membership.close(2, 3);
  EXPECT_EQ(membership.leader(), -1);
  EXPECT_FALSE(membership.verdict().empty());
}

TEST(JobMembership, TheEndIsToldWhenAllThatAreLeftHaveReachedIt) {
  for (const bool with_death : {false, true}) {
    JobMembership membership = started(2, 2, true);
    if (with_death) membership.close(3, 1);
    membership.outgoing().clear();
    for (const int m : {0, 1}) membership.hear(m, {Kind::finishing});
    EXPECT_TRUE(membership.outgoing().empty());
    membership.hear(2, {Kind::finishing});
    if (!with_death) membership.hear(3, {Kind::finishing});
    ASSERT_EQ(membership.outgoing().size(), with_death ? 2U : 4U);
    for (const auto& addressed : membership.outgoing())
      EXPECT_EQ(addressed.message.kind, with_death ? Kind::leave : Kind::finalize);
  }
}

TEST(JobMembership, ADeathIsWhatTheLastOneWaitedFor) {
  JobMembership membership = started(1, 3, true);
  membership.hear(0, {Kind::finishing});
  membership.hear(2, {Kind::finishing});
  membership.outgoing().clear();
  membership.close(1, 4);
  ASSERT_EQ(membership.outgoing().size(), 4U);
  EXPECT_EQ(membership.outgoing()[0].message.kind, Kind::gone);
  EXPECT_EQ(membership.outgoing()[2].message.kind, Kind::leave);
  for (const int m : {0, 2}) {
    membership.hear(m, exits(0));
    EXPECT_FALSE(membership.over());
    membership.close(m, 5);
  }
  EXPECT_TRUE(membership.over());
  EXPECT_TRUE(membership.verdict().empty());
  EXPECT_EQ(membership.deaths().size(), 1U);
}

TEST(JobMembership, IsOverAfterADeathAlone) {
  JobMembership well = started(1, 2, true);
  for (const int m : {0, 1}) {
    well.hear(m, {Kind::finishing});
    well.hear(m, {Kind::finished});
    well.hear(m, exits(0));
    well.close(m, 1);
  }
  EXPECT_FALSE(well.over()) << "the launcher tells";

  JobMembership silent = started(1, 2, true);
  silent.close(0, 1);
  silent.hear(1, {Kind::finishing});
  silent.close(1, 2);
  EXPECT_FALSE(silent.over()) << "one has not said how it ended";
}

TEST(JobMembership, DeathsThatCannotBeSurvivedEndTheJob) {
  JobMembership early(1, 2, true);
  early.join(0, 0);
  early.join(0, 1);
  for (const int m : {0, 1}) early.hear(m, {Kind::starting});
  early.hear(1, {Kind::ready});
  early.close(0, 1);
  EXPECT_NE(early.verdict().find("before MPI_Init"), std::string::npos);

  JobMembership late = started(1, 2, true);
  late.hear(0, {Kind::finishing});
  late.hear(1, {Kind::finishing});
  late.close(1, 1);
  EXPECT_NE(late.verdict().find("MPI_Finalize"), std::string::npos);
}

TEST(JobMembership, NobodyLeavesMpiInitBeforeAllAreReady) {
  for (const bool goes_on : {true, false}) {
    JobMembership membership(2, 2, goes_on);
    for (int m = 0; m < 4; ++m) membership.join(m / 2, m % 2);
    for (const int m : {3, 0, 2}) membership.hear(m, {Kind::ready});
    EXPECT_TRUE(membership.outgoing().empty());
    membership.hear(1, {Kind::ready});
    ASSERT_EQ(membership.outgoing().size(), goes_on ? 4U : 0U);
    for (const auto& addressed : membership.outgoing()) EXPECT_EQ(addressed.message.kind, Kind::started);
    membership.outgoing().clear();
    membership.hear(1, {Kind::ready});
    EXPECT_TRUE(membership.outgoing().empty()) << "told once";
    membership.close(3, 1);
    EXPECT_TRUE(membership.verdict().empty());
  }
}

TEST(JobMembership, WhatAProcessFoundEndsTheJobAndIsNoDeath) {
  JobMembership membership = started(1, 3, true);
  membership.hear(1, {Kind::failed});
  EXPECT_FALSE(membership.verdict().empty());
  membership.close(1, 1);
  EXPECT_TRUE(membership.deaths().empty());
}

TEST(JobMembership, AProgramThatEndsWithoutMpiIsNoDeath) {
  JobMembership membership(1, 2, true);
  for (const int m : {0, 1}) {
    EXPECT_EQ(membership.join(0, m), m);
    membership.hear(m, exits(0));
    membership.close(m, 0.1);
  }
  EXPECT_TRUE(membership.deaths().empty());
  EXPECT_TRUE(membership.verdict().empty());
}

TEST(JobMembership, WhatAllReplicasOfARankEndWithIsTheProgramsDoing) {
  JobMembership membership = started(2, 3, true);
  for (const int m : {4, 3, 5}) {  // rank 1
    EXPECT_TRUE(membership.verdict().empty());
    membership.hear(m, exits(5));
    membership.close(m, 1 + m / 10.0);
    membership.follow(1.5);
  }
  EXPECT_EQ(membership.verdict(), "rank 1 ended with status 5 without MPI_Finalize, in 3 of its 3 replicas");
  EXPECT_TRUE(membership.programs_doing());
  EXPECT_TRUE(membership.deaths().empty());
  EXPECT_TRUE(membership.outgoing().empty()) << "nobody was taken out";
  EXPECT_FALSE(membership.undecided());
}

TEST(JobMembership, WhoEndsEarlyAloneIsTakenOut) {
  JobMembership membership = started(2, 3, true);
  membership.hear(4, exits(5));
  membership.close(4, 1);
  membership.follow(2.5);
  EXPECT_TRUE(membership.undecided());
  EXPECT_TRUE(membership.deaths().empty());
  membership.follow(3.5);
  EXPECT_FALSE(membership.undecided());
  ASSERT_EQ(membership.deaths().size(), 1U);
  EXPECT_EQ(membership.deaths()[0].replica, 1);
  EXPECT_EQ(membership.deaths()[0].seconds, 1);
  EXPECT_TRUE(membership.verdict().empty());
  EXPECT_TRUE(membership.gone(1));
}

TEST(JobMembership, ReplicasThatFollowLateAreTheProgramsDoingAllTheSame) {
  JobMembership membership = started(1, 3, true);
  for (const int m : {0, 1, 2}) {
    membership.hear(m, exits(0));
    membership.close(m, 10 * m);
    membership.follow(10 * m + 5);
  }
  EXPECT_EQ(membership.deaths().size(), 2U);
  EXPECT_TRUE(membership.programs_doing());
  EXPECT_EQ(membership.verdict(), "rank 0 ended with status 0 without MPI_Finalize, in 3 of its 3 replicas");
}

TEST(JobMembership, DifferentStatusesAreNotTheProgramsDoing) {
  JobMembership membership = started(1, 3, true);
  for (const int m : {0, 1, 2}) {
    membership.hear(m, exits(m));
    membership.close(m, 1);
  }
  membership.follow(4);
  EXPECT_FALSE(membership.programs_doing());
  EXPECT_FALSE(membership.verdict().empty());
}

TEST(JobMembership, WhereTheLauncherEndsTheJobAnEarlyEndIsKnown) {
  JobMembership membership = started(2, 2, false);
  for (const int m : {2, 3}) {
    EXPECT_EQ(membership.early_end(), "");
    membership.hear(m, exits(0));
    membership.close(m, 1);
  }
  EXPECT_EQ(membership.early_end(), "rank 1 ended with status 0 without MPI_Finalize, in 2 of its 2 replicas");
}

// MPICH's mpiexec may end the others for it before they have said their status, and end with 0.
TEST(JobMembership, WhereTheLauncherEndsTheJobAtTheFirstEarlyEndItIsKnown) {
  JobMembership membership = started(2, 2, false);
  membership.hear(3, exits(0));
  for (const int m : {3, 0, 1}) {
    membership.close(m, 1);
    EXPECT_EQ(membership.early_end(), "");
  }
  membership.close(2, 1);
  EXPECT_EQ(membership.early_end(),
            "rank 1 replica 1 ended with status 0 without MPI_Finalize, and the launcher ended others");
}

TEST(JobMembership, AShellThatBecomesTheProgramIsNoDeath) {
  for (const bool goes_on : {true, false}) {
    JobMembership membership(1, 2, goes_on);
    for (const int m : {0, 1}) EXPECT_EQ(membership.join(0, m), m);
    membership.close(1, 0.1);
    EXPECT_TRUE(membership.verdict().empty());
    EXPECT_EQ(membership.join(0, 1), 1) << "it comes back as the program";
    for (const int m : {0, 1}) membership.hear(m, {Kind::starting});
    EXPECT_TRUE(membership.starting());
    for (const int m : {0, 1}) membership.hear(m, {Kind::ready});
    EXPECT_FALSE(membership.starting());
    EXPECT_TRUE(membership.deaths().empty());
  }
}

TEST(JobMembership, OneThatNeverComesEndsTheJob) {
  for (const bool goes_on : {true, false}) {
    JobMembership membership(1, 2, goes_on);
    membership.join(0, 0);
    EXPECT_FALSE(membership.starting());
    membership.hear(0, {Kind::starting});
    EXPECT_TRUE(membership.starting());
    membership.look(1, std::set<int>{0, 1}, 60);
    for (double now = 2; now < 5; now += 0.25) membership.look(now, std::set<int>{0}, 60);
    EXPECT_NE(membership.verdict().find("rank 0 replica 1 died or did not come"), std::string::npos);
    EXPECT_FALSE(membership.programs_doing());
    ASSERT_EQ(membership.deaths().size(), 1U);
    EXPECT_EQ(membership.deaths()[0].replica, 1);
    EXPECT_FALSE(membership.starting());
  }
}

TEST(JobMembership, WhoFailsInMpiInitForThoseThatHadEndedIsNotTheCause) {
  // A shell that exits in place of each replica of rank 1, then MPI_Init fails in rank 0's.
  enum class Decides { look, launchers_end, launchers_loss };
  for (const Decides how : {Decides::look, Decides::launchers_end, Decides::launchers_loss}) {
    JobMembership membership(2, 2, true);
    for (const int m : {0, 1, 2, 3}) membership.join(m / 2, m % 2);
    for (const int m : {0, 1}) membership.hear(m, {Kind::starting});
    for (const int m : {3, 2}) membership.close(m, 0.4 - 0.1 * m);
    membership.hear(0, exits(1));
    for (const int m : {0, 1}) membership.close(m, 0.4);
    EXPECT_EQ(membership.verdict(), "");
    for (double now = 0.5; how == Decides::look && now < 2; now += 0.25) membership.look(now, std::set<int>{}, 60);
    if (how != Decides::look) membership.conclude(how == Decides::launchers_loss);
    EXPECT_EQ(membership.verdict(),
              how == Decides::launchers_loss
                  ? "rank 1 replica 1 died or did not come 0.1 s after the start, before MPI_Init was over: the job "
                    "cannot go on without it"
                  : "rank 1 ended 0.1 s after the start, before MPI_Init, in all its replicas");
    EXPECT_EQ(membership.programs_doing(), how != Decides::launchers_loss);
  }
}

TEST(JobMembership, WhereTheLauncherEndsTheJobTheFirstDeathIsTheCause) {
  JobMembership membership = started(2, 2, false);
  membership.close(3, 1);
  membership.close(0, 1.1);
  ASSERT_EQ(membership.deaths().size(), 1U);
  EXPECT_EQ(membership.deaths()[0].rank, 1);
  EXPECT_TRUE(membership.outgoing().empty());

  JobMembership program = started(2, 2, false);
  program.hear(2, exits(3));
  program.close(2, 1);
  program.close(0, 1.1);
  EXPECT_TRUE(program.deaths().empty());
}

TEST(JobMembership, AShellThatBecomesTheProgramHidesNoDeath) {
  JobMembership membership(2, 2, false);
  for (int m = 0; m < 4; ++m) membership.join(m / 2, m % 2);
  membership.close(0, 1);  // becomes the program
  membership.close(3, 1.1);
  membership.join(0, 0);
  EXPECT_FALSE(membership.died_at_start()) << "nobody waits for it yet";
  membership.hear(0, {Kind::starting});
  EXPECT_TRUE(membership.died_at_start());
  membership.close(1, 1.2);
  ASSERT_EQ(membership.deaths().size(), 1U);
  EXPECT_EQ(membership.deaths()[0].rank, 1);
  EXPECT_EQ(membership.deaths()[0].replica, 1);
}

TEST(JobMembership, TheStatusIsThatOfMostOfThoseThatAreLeft) {
  JobMembership membership = started(2, 3, true);
  EXPECT_EQ(membership.status(), std::nullopt);
  membership.close(0, 1);
  for (const int m : {1, 2, 4, 5}) membership.hear(m, {Kind::finished});
  for (const int m : {1, 2}) membership.hear(m, exits(0));
  for (const int m : {4, 5}) membership.hear(m, exits(7));
  EXPECT_EQ(membership.status(), 7);
}

TEST(JobMembership, OneThatIsPastMpiNeedNotSayItsStatus) {
  JobMembership membership = started(1, 3, true);
  EXPECT_EQ(membership.status(), std::nullopt);
  for (const int m : {0, 1, 2}) membership.hear(m, {Kind::finished});
  EXPECT_EQ(membership.status(), 0);
}

TEST(JobMembership, DeathsInWords) {
  EXPECT_EQ(death_line({1, 2, 3.25, 2}),
            "rank 1 replica 2 died 3.2 s after the start: replica 2 is taken out, 2 replicas go on, corruption is "
            "detected and no longer corrected");
  EXPECT_EQ(death_line({0, 0, 1, 1}),
            "rank 0 replica 0 died 1.0 s after the start: replica 0 is taken out, 1 replica goes on, unverified from "
            "here on");
  EXPECT_EQ(death_record({{1, 0, 2, 1}}).dump(),
            R"([{"rank":1,"replica":0,"seconds":2.0,"degree_left":1,"diverged":false}])");
}

MembershipMessage accuses(int replica) {
  return {Kind::accuse, -1, replica, {}, {}};
}

TEST(JobMembership, OneThatMostReplicasOfItsRankAccuseIsTakenOut) {
  JobMembership membership = started(2, 3, true);
  membership.hear(3, accuses(2), 1);  // rank 1 replica 0
  membership.hear(3, accuses(2), 1);  // twice is once
  membership.hear(5, accuses(0), 1);  // and the one accused accuses the others
  membership.hear(5, accuses(1), 1);
  membership.hear(1, accuses(2), 1);  // another rank knows nothing of it
  EXPECT_TRUE(membership.deaths().empty());
  membership.hear(4, accuses(2), 2.5);
  ASSERT_EQ(membership.deaths().size(), 1u);
  EXPECT_TRUE(membership.deaths()[0].diverged);
  EXPECT_EQ(membership.deaths()[0].rank, 1);
  EXPECT_TRUE(membership.gone(2));
  EXPECT_EQ(membership.verdict(), "");
  EXPECT_EQ(death_line(membership.deaths()[0]),
            "rank 1 replica 2 went another way than most replicas 2.5 s after the start: replica 2 is taken out, 2 "
            "replicas go on, corruption is detected and no longer corrected");
  for (const int m : {3, 4}) membership.hear(m, accuses(m - 3 == 0 ? 1 : 0), 3);
  EXPECT_EQ(membership.deaths().size(), 1u) << "of two nobody is in a minority";
}

TEST(JobMembership, WhoIsGoneHasNoVoice) {
  JobMembership membership = started(1, 5, true);
  membership.close(3, 1);
  membership.close(4, 1);
  membership.hear(3, accuses(0), 2);
  membership.hear(4, accuses(0), 2);
  membership.hear(1, accuses(0), 2);
  EXPECT_FALSE(membership.gone(0)) << "one of the three that are left";
  membership.hear(2, accuses(0), 2);
  EXPECT_TRUE(membership.gone(0));
  EXPECT_EQ(membership.leader(), 1);
}

TEST(JobMembership, NobodyIsTakenOutWhereTheJobDoesNotGoOn) {
  JobMembership membership(1, 3, false);
  for (const int m : {0, 1, 2}) membership.join(0, m);
  for (const int m : {0, 1, 2}) membership.hear(m, {Kind::ready});
  for (const int m : {0, 1}) membership.hear(m, accuses(2), 1);
  for (const int wild : {-1, 7}) membership.hear(0, accuses(wild), 1);
  EXPECT_FALSE(membership.gone(2));
  EXPECT_TRUE(membership.deaths().empty());
}

TEST(JobMembership, WhoWaitsHearsWhetherWhomItWaitsForComputes) {
  JobMembership membership({2, 2}, true, 10);
  for (int m = 0; m < 4; ++m) membership.join(m / 2, m % 2);
  for (int m = 0; m < 4; ++m) membership.hear(m, {Kind::ready});
  const auto answer = [&](double seconds) {
    membership.outgoing().clear();
    membership.hear(1, {Kind::waits, 0, 0, {}, {}}, seconds);
    return membership.outgoing().front();
  };
  const auto works = [&](std::uint64_t used_ms, double seconds) {
    MembershipMessage message{Kind::outside};
    message.used_ms = used_ms;
    message.points = 3;
    membership.hear(0, message, seconds);
  };
  EXPECT_EQ(answer(2).message, MembershipMessage{Kind::idle});
  EXPECT_EQ(membership.outgoing().size(), 5U) << "all four are asked";
  EXPECT_EQ(membership.outgoing().back().message, MembershipMessage{Kind::look});
  works(100, 2);
  EXPECT_EQ(answer(3).message, MembershipMessage{Kind::idle});
  works(900, 3);
  EXPECT_EQ(answer(4).message, MembershipMessage{Kind::working});
  EXPECT_EQ(membership.outgoing().front().member, 1);
  membership.hear(0, {Kind::inside}, 4);
  EXPECT_EQ(answer(5).message, MembershipMessage{Kind::idle});
}

}  // namespace
}  // namespace holdfast::launch
