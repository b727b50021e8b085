#include "replicate/engine/agreement.h"

#include <gtest/gtest.h>

#include "core/random/stream.h"

namespace holdfast::replicate {
namespace {

TEST(Agreement, FollowerRepeatsRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    random::Stream draw(seed);
    Publisher leader;
    Follower follower;
    std::vector<Decision> wire;
    struct Asked {
      int kind;
      std::uint64_t value;
    };
    std::vector<Asked> program;
    for (int i = 0; i < 500; ++i) {
      const int kind = static_cast<int>(draw.below(3));
      const std::uint64_t value = draw.next64() % 1000;
      program.push_back({kind, value});
      if (kind < 2) leader.yes_or_no(value < 100);
      if (kind == 2) leader.number(static_cast<std::int64_t>(value) - 500);
      for (const Decision& d : leader.due(false)) wire.push_back(d);
    }
    for (const Decision& d : leader.due(true)) wire.push_back(d);
    follower.receive(wire);
    for (const Asked& asked : program) {
      bool answer = false;
      std::int64_t number = 0;
      if (asked.kind < 2) {
        ASSERT_EQ(follower.yes_or_no(answer), Follower::Reply::ready) << "seed " << seed;
        ASSERT_EQ(answer, asked.value < 100) << "seed " << seed;
      } else {
        ASSERT_EQ(follower.number(number), Follower::Reply::ready) << "seed " << seed;
        ASSERT_EQ(number, static_cast<std::int64_t>(asked.value) - 500) << "seed " << seed;
      }
    }
    bool more = false;
    EXPECT_EQ(follower.yes_or_no(more), Follower::Reply::waiting);
  }
}

TEST(Agreement, RunsOfNoCostLogarithmicallyManyMessages) {
  Publisher leader;
  std::size_t sent = 0;
  std::uint64_t heard = 0;
  for (int i = 1; i <= 1024; ++i) {
    leader.yes_or_no(false);
    for (const Decision& d : leader.due(false)) {
      ++sent;
      heard += d.words[0];
    }
    EXPECT_GE(2 * heard, static_cast<std::uint64_t>(i));  // never more than half of the run behind
  }
  EXPECT_LE(sent, 12U);
}

TEST(Agreement, AnotherQuestionIsDivergence) {
  Publisher leader;
  Follower follower;
  leader.number(3);
  follower.receive(leader.due(true));
  bool answer = false;
  EXPECT_EQ(follower.yes_or_no(answer), Follower::Reply::diverged);
  EXPECT_STREQ(follower.leader_did(), "completed one of several requests");
}

TEST(Agreement, MatchesArriveOutsideProgramOrder) {
  Publisher leader;
  Follower follower;
  leader.yes_or_no(false);
  leader.match(4, 2, 9);
  follower.receive(leader.due(true));
  const auto matches = follower.take_matches();
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].words[0], 4U);
  EXPECT_TRUE(follower.take_matches().empty());
}

TEST(Agreement, AnAnswerToAnotherAskerIsADivergence) {
  Publisher leader;
  leader.yes_or_no(false, 1);
  leader.yes_or_no(false, 1);
  leader.yes_or_no(false, 2);
  leader.yes_or_no(true, 2);
  leader.number(7, 3);
  const std::vector<Decision> wire = leader.due(true);
  bool answer = true;
  std::int64_t number = 0;
  Follower follower;
  follower.receive(wire);
  EXPECT_EQ(follower.yes_or_no(answer, 2), Follower::Reply::diverged);
  EXPECT_EQ(follower.yes_or_no(answer, 1), Follower::Reply::ready);
  EXPECT_EQ(follower.yes_or_no(answer, 1), Follower::Reply::ready);
  EXPECT_EQ(follower.yes_or_no(answer, 1), Follower::Reply::diverged);
  EXPECT_EQ(follower.yes_or_no(answer, 2), Follower::Reply::ready);
  EXPECT_FALSE(answer);
  EXPECT_EQ(follower.yes_or_no(answer, 2), Follower::Reply::ready);
  EXPECT_TRUE(answer);
  EXPECT_EQ(follower.number(number, 2), Follower::Reply::diverged);
  EXPECT_EQ(follower.number(number, 3), Follower::Reply::ready);
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(follower.caught_up());
}

TEST(Agreement, TurnsAreTakenInTheLeadersOrder) {
  Publisher leader;
  Follower follower;
  EXPECT_EQ(follower.next_turn(), 0U);
  const std::vector<std::uint64_t> threads = {7, 9, 9, 7, std::uint64_t{1} << 63};
  for (const std::uint64_t thread : threads) {
    leader.turn(thread);
    EXPECT_TRUE(leader.pending());
    follower.receive(leader.due(false));
  }
  for (const std::uint64_t thread : threads) {
    EXPECT_FALSE(follower.caught_up());
    EXPECT_EQ(follower.next_turn(), thread);
    follower.take_turn();
  }
  EXPECT_EQ(follower.next_turn(), 0U);
  EXPECT_TRUE(follower.caught_up());
}

}  // namespace
}  // namespace holdfast::replicate
