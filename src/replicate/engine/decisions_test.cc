#include "replicate/engine/decisions.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::replicate {
namespace {

struct Ended : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The replicas of one rank, what lies between each two of them, and what each was told.
class Team {
 public:
  explicit Team(int degree, bool survives = true) {
    for (int k = 0; k < degree; ++k) members_.push_back(std::make_unique<Member>(*this, k, degree, survives));
  }

  Decisions& operator[](int k) { return members_[static_cast<std::size_t>(k)]->decisions; }
  const std::vector<std::uint64_t>& matches(int k) const { return members_[static_cast<std::size_t>(k)]->matches; }
  int led(int k) const { return members_[static_cast<std::size_t>(k)]->led; }

  /// The next message from one to another arrives.
  bool deliver(int from, int to) {
    auto& queue = members_[static_cast<std::size_t>(from)]->sent[static_cast<std::size_t>(to)];
    if (queue.empty()) return false;
    const Sent sent = std::move(queue.front());
    queue.pop_front();
    Member& member = *members_[static_cast<std::size_t>(to)];
    if (!member.team.here(from)) return true;
    const ControlMessage message{{0, from}, sent.record, sent.tail};
    sent.record.kind == RecordKind::decision ? member.decisions.on_decisions(message)
                                             : member.decisions.on_succession(message);
    return true;
  }
  void deliver_all() {
    const int n = static_cast<int>(members_.size());
    for (bool any = true; any;) {
      any = false;
      for (int from = 0; from < n; ++from)
        for (int to = 0; to < n; ++to) any = deliver(from, to) || any;
    }
  }
  /// One hears that another is gone.
  void hear(int who, int gone) {
    Member& member = *members_[static_cast<std::size_t>(who)];
    member.team.gone[static_cast<std::size_t>(gone)] = 1;
    --member.team.present;
    while (!member.team.here(member.team.leading)) ++member.team.leading;
    member.decisions.peer_gone();
  }

 private:
  struct Sent {
    Record record;
    std::vector<std::byte> tail;
  };
  struct Member final : Host, DecisionListener {
    Member(Team&, int k, int degree, bool survives) : decisions(team, survives, counters, *this, *this) {
      team.replica = k;
      team.degree = team.present = degree;
      team.gone.assign(static_cast<std::size_t>(degree), 0);
      sent.resize(static_cast<std::size_t>(degree));
    }
    void send(Process to, const Record& record, std::span<const std::byte> tail) override {
      sent[static_cast<std::size_t>(to.replica)].push_back({record, {tail.begin(), tail.end()}});
    }
    std::uint64_t send_copy(Process, Copy) override { return 0; }
    void receive_copy(Process, std::uint64_t, std::shared_ptr<std::vector<std::byte>>, std::uint64_t) override {}
    void give_to_mpi(Verified&) override {}
    void take_answers(std::uint64_t, std::span<const Decision>) override {}
    void wake_for_turn(std::uint64_t) override {}
    Verified* find_posted(const ReceiveOrder&, ReceiveOrder::Ticket) override { return nullptr; }
    bool take_back(Verified&) override { return true; }
    Ballot digest(std::span<const std::byte>) const override { return {}; }
    Copy read_if_there(const std::byte*, std::uint64_t) override { return nullptr; }
    bool tolerates(const Verified&) override { return false; }
    void await(Awaited) override {}
    void watch(Verified&) override {}
    void forget(Verified&) override {}
    void note_wrong_copy(int, int) override {}
    void say(std::string_view) override {}
    [[noreturn]] void fail(Incident, std::string_view message) override { throw Ended(std::string(message)); }
    [[noreturn]] void withdraw(std::string_view) override { std::abort(); }
    std::string other_causes() const override { return {}; }
    std::string divergence_causes() const override { return {}; }
    void on_match(std::uint64_t number, std::int32_t, std::int32_t, std::uint32_t) override {
      matches.push_back(number);
    }
    void on_answers(std::uint64_t, std::span<const Decision>) override {}
    void on_turn(std::uint64_t) override {}
    void on_lead() override { ++led; }

    Membership team;
    Counters counters;
    Decisions decisions;
    std::vector<std::deque<Sent>> sent;  ///< by receiver
    std::vector<std::uint64_t> matches;
    int led = 0;
  };
  std::vector<std::unique_ptr<Member>> members_;
};

using Reply = Decisions::Reply;

Reply number_at(Decisions& replica, std::int64_t& number) {
  return replica.follow_number(0, number, 0);
}

TEST(Decisions, AreRepeatedInTheirOrder) {
  Team team(3);
  EXPECT_TRUE(team[0].leads(0));
  EXPECT_FALSE(team[1].leads(0));
  team[0].tell_flag(0, false, 0);
  team[0].tell_number(0, 7, 0);
  std::int64_t number = 0;
  bool flag = true;
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::waiting);
  team.deliver_all();
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::told);
  EXPECT_FALSE(flag);
  EXPECT_EQ(number_at(team[1], number), Reply::told);
  EXPECT_EQ(number, 7);
  EXPECT_EQ(number_at(team[1], number), Reply::waiting);
  EXPECT_EQ(number_at(team[2], number), Reply::diverged);
  EXPECT_EQ(number_at(team[0], number), Reply::own);
}

TEST(Decisions, WhatOneFollowerHadHeardAllHearBeforeTheNextLeads) {
  Team team(4);
  for (int n = 0; n < 3; ++n) team[0].tell_number(0, n, 0);
  team[0].tell_match(99, 1, 1, 0);
  for (int n = 0; n < 4; ++n) EXPECT_TRUE(team.deliver(0, 2));
  EXPECT_TRUE(team.deliver(0, 3));
  for (const int who : {1, 2, 3}) {
    EXPECT_EQ(team.led(1), 0);
    team.hear(who, 0);
  }
  team.deliver_all();
  EXPECT_EQ(team.led(1), 1);
  for (const int who : {1, 2, 3}) {
    EXPECT_EQ(team.matches(who), std::vector<std::uint64_t>{99}) << who;
    for (std::int64_t n = 0; n < 3; ++n) {
      std::int64_t number = -1;
      EXPECT_FALSE(team[who].leads(0)) << who;
      EXPECT_EQ(number_at(team[who], number), Reply::told) << who;
      EXPECT_EQ(number, n) << who;
    }
  }
  EXPECT_TRUE(team[1].leads(0));
  team[1].tell_number(0, 12, 0);
  team.deliver_all();
  std::int64_t number = 0;
  EXPECT_EQ(number_at(team[3], number), Reply::told);
  EXPECT_EQ(number, 12);
}

TEST(Decisions, NobodyLeadsBeforeAllAreHeard) {
  Team team(3);
  team.hear(1, 0);
  EXPECT_TRUE(team[1].succession_is_open());
  team.deliver_all();
  EXPECT_EQ(team.led(1), 0);
  team.hear(2, 0);
  team.deliver_all();
  EXPECT_EQ(team.led(1), 1);
  EXPECT_FALSE(team[2].succession_is_open());
}

TEST(Decisions, ALeaderThatDiesWhileItFollowsIsFollowed) {
  Team team(3);
  team[0].tell_number(0, 5, 0);
  EXPECT_TRUE(team.deliver(0, 1));
  team.hear(1, 0);
  team.hear(2, 0);
  team.hear(2, 1);  // the only one that had heard it
  team.deliver_all();
  EXPECT_EQ(team.led(2), 1);
  EXPECT_TRUE(team[2].leads(0));
}

TEST(Decisions, OneThatWasToSupplyOthersMayDieBeforeItHas) {
  Team team(4);
  team[0].tell_number(0, 5, 0);
  EXPECT_TRUE(team.deliver(0, 2));
  EXPECT_TRUE(team.deliver(0, 3));
  for (const int who : {1, 2, 3}) team.hear(who, 0);
  EXPECT_TRUE(team.deliver(1, 3));
  EXPECT_TRUE(team.deliver(2, 3));
  EXPECT_FALSE(team[3].succession_is_open());  // replica 2 gives it to replica 1
  team.hear(1, 2);
  team.hear(3, 2);
  team.deliver_all();
  EXPECT_EQ(team.led(1), 1);
  std::int64_t number = 0;
  EXPECT_EQ(number_at(team[1], number), Reply::told);
}

TEST(Decisions, OfALeaderThatWentAnotherWayNothingIsInherited) {
  Team team(3);
  team[0].tell_number(0, 5, 0);
  team.deliver_all();
  bool flag = false;
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::diverged);
  team.hear(1, 0);
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::waiting);  // others may have heard more
  team.hear(2, 0);
  team.deliver_all();
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::own);
}

/// The next leader knows that all have spoken before the others do, and what it says then is no inheritance of theirs.
TEST(Decisions, WhatTheNextLeaderSaysIsNotLostWithWhatAnotherLeft) {
  Team team(4);
  team[0].tell_number(0, 5, 0);
  team.deliver_all();
  for (const int who : {1, 2, 3}) team.hear(who, 0);
  EXPECT_TRUE(team.deliver(2, 1));
  EXPECT_TRUE(team.deliver(3, 1));
  bool flag = false;
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::own);
  team[1].tell_flag(0, true, 0);
  EXPECT_TRUE(team.deliver(1, 3));
  EXPECT_TRUE(team.deliver(1, 3));
  EXPECT_TRUE(team[3].succession_is_open());
  EXPECT_TRUE(team.deliver(2, 3));
  EXPECT_EQ(team[3].follow_flag(0, flag, 0), Reply::told);
  EXPECT_TRUE(flag);
}

/// What one alone had heard, it gives to another that does not know yet that it has.
TEST(Decisions, InheritanceThatComesBeforeTheWordOfItIsTaken) {
  Team team(4);
  team[0].tell_number(0, 5, 0);
  EXPECT_TRUE(team.deliver(0, 1));
  for (const int who : {1, 2, 3}) team.hear(who, 0);
  EXPECT_TRUE(team.deliver(2, 1));
  EXPECT_TRUE(team.deliver(3, 1));
  while (team.deliver(1, 3)) {
  }
  EXPECT_TRUE(team[3].succession_is_open());
  EXPECT_TRUE(team.deliver(2, 3));
  EXPECT_FALSE(team[3].succession_is_open());
  std::int64_t number = 0;
  EXPECT_EQ(number_at(team[3], number), Reply::told);
  EXPECT_EQ(number, 5);
}

TEST(Decisions, WithoutSurvivorsADivergenceStays) {
  Team team(2, false);
  team[0].tell_number(0, 5, 0);
  team.deliver_all();
  bool flag = false;
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::diverged);
  EXPECT_EQ(team[1].follow_flag(0, flag, 0), Reply::diverged);
}

TEST(Decisions, WhoLacksMoreThanIsKeptEndsTheJob) {
  Team team(3);
  for (std::size_t n = 0; n <= Decisions::most_kept; ++n) {
    team[0].tell_number(0, 1, 0);
    EXPECT_TRUE(team.deliver(0, 2));
  }
  team.hear(1, 0);
  team.hear(2, 0);
  EXPECT_THROW(team.deliver_all(), Ended);
}

TEST(Decisions, ThreadsTakeTurnsAsTheLeaderSays) {
  Team team(2);
  EXPECT_EQ(team[0].next_turn(4), Decisions::NextTurn::here);
  EXPECT_EQ(team[1].next_turn(4), Decisions::NextTurn::unsaid);
  team[0].tell_turn(4);
  team.deliver_all();
  EXPECT_EQ(team[1].next_turn(5), Decisions::NextTurn::of_other);
  EXPECT_EQ(team[1].next_turn(4), Decisions::NextTurn::own);
  team[1].take_turn();
  EXPECT_EQ(team[1].turns_taken(), 1U);
  EXPECT_EQ(team[1].next_turn(4), Decisions::NextTurn::unsaid);
}

}  // namespace
}  // namespace holdfast::replicate
