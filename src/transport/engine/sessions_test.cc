// Peers that are given up: what was on its way fails, at both ends and for good, and nothing takes a lost message's
// place. Outages that end before that cost nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "transport/engine/joined_engines_for_tests.h"

namespace holdfast::transport {
namespace {

constexpr std::int64_t limit_ns = 500'000'000;
constexpr std::int64_t step_ns = 1'000'000;

class SessionsTest : public EngineTest {
 protected:
  SessionsTest() : net_(2, chosen()) {
    Bytes warm = pattern(8);
    Bytes in(8);
    receive(net_[1], in);
    send(net_[0], 1, warm);
    net_.run(5'000'000);
    net_[0].completions.clear();
    net_[1].completions.clear();
  }

  static Options chosen() {
    Options options = defaults();
    options.unreachable_after_ns = limit_ns;
    options.keepalive_ns = 50'000'000;
    options.probe_interval_ns = 20'000'000;
    return options;
  }

  void carry(bool yes) {
    net_.lose = [yes](const Network::Packet&) { return !yes; };
  }

  // Ten messages that are complete at once.
  void send_ten() {
    for (unsigned i = 0; i < 10; ++i) {
      Bytes out = pattern(100, i);
      ASSERT_EQ(send(net_[0], 1, out), Posted::accepted);
    }
  }

  static std::vector<Completion> partings(const Node& node) { return of_kind(node, Completion::Kind::peer_lost); }

  Network net_;
};

TEST_F(SessionsTest, AnOutageShorterThanTheLimitIsSurvivedOnceAndInOrder) {
  carry(false);
  send_ten();
  net_.run(limit_ns * 8 / 10, step_ns);
  carry(true);
  net_.run(limit_ns, step_ns);
  std::vector<Bytes> in(10, Bytes(100));
  for (unsigned i = 0; i < 10; ++i) {
    receive(net_[1], in[i], 0);
    EXPECT_TRUE(in[i] == pattern(100, i)) << i;
  }
  EXPECT_TRUE(partings(net_[0]).empty());
  EXPECT_TRUE(net_[0].engine->idle());
}

TEST_F(SessionsTest, AfterALongerOneNothingIsReceivedInPlaceOfWhatIsLostAndBothEndsKnow) {
  carry(false);
  send_ten();
  std::vector<Bytes> in(3, Bytes(100));
  receive(net_[1], in[0], 0);
  receive(net_[1], in[1], any_peer);
  net_.run(3 * limit_ns, step_ns);
  carry(true);
  ASSERT_EQ(partings(net_[0]).size(), 1U);
  EXPECT_EQ(partings(net_[0])[0].outcome, Outcome::unreachable);
  EXPECT_EQ(partings(net_[0])[0].message_bytes, 10U);
  EXPECT_EQ(net_[0].engine->given_up(1), Outcome::unreachable);
  Bytes later = pattern(100, 50);
  EXPECT_EQ(send(net_[0], 1, later), Posted::lost);
  EXPECT_EQ(send(net_[0], 1, later, 0, SendMode::acknowledged), Posted::lost);
  net_.run(2 * limit_ns, step_ns);
  EXPECT_EQ(send(net_[0], 1, later), Posted::lost) << "for good";
  ASSERT_EQ(partings(net_[1]).size(), 1U);
  const auto receives = of_kind(net_[1], Completion::Kind::receive);
  ASSERT_EQ(receives.size(), 1U) << "the one from this peer failed, the one from any waits on";
  EXPECT_NE(receives[0].outcome, Outcome::ok);
  EXPECT_EQ(receive(net_[1], in[2], 0), Posted::lost);
  EXPECT_EQ(send(net_[1], 0, later), Posted::lost);
  EXPECT_EQ(net_[0].engine->objects_in_use(), 0U);
}

// One that only waits for anybody's message sends nothing by itself, and must still learn that one was lost.
TEST_F(SessionsTest, APeerThatAsksNothingIsToldWhenItCanBe) {
  carry(false);
  send_ten();
  net_.run(3 * limit_ns, step_ns);
  EXPECT_TRUE(partings(net_[1]).empty());
  carry(true);
  net_.run(limit_ns, step_ns);
  ASSERT_EQ(partings(net_[1]).size(), 1U);
  const std::uint64_t said = net_[0].engine->counters()[Count::probes_sent];
  net_.run(10 * limit_ns, step_ns);
  EXPECT_EQ(net_[0].engine->counters()[Count::probes_sent], said) << "it has answered";
}

TEST_F(SessionsTest, MessagesAfterAGapAreDroppedWithItAndThoseBeforeItAreReceived) {
  Bytes first = pattern(100, 1);
  send(net_[0], 1, first);
  net_.settle();
  carry(false);
  Bytes second = pattern(100, 2);
  send(net_[0], 1, second);
  net_.lose = [](const Network::Packet& packet) { return packet.from == 1; };
  net_.under_way.clear();
  Bytes third = pattern(100, 3);
  bool dropped = false;
  net_.lose = [&](const Network::Packet& packet) {
    return packet.from == 1 || (packet.bytes.size() > 150 && !std::exchange(dropped, true));
  };
  send(net_[0], 1, third);
  net_.settle();
  carry(false);
  net_.run(3 * limit_ns, step_ns);
  carry(true);
  net_.run(limit_ns, step_ns);
  Bytes in(100);
  EXPECT_EQ(receive(net_[1], in, 0), Posted::accepted);
  EXPECT_TRUE(in == first);
  EXPECT_EQ(receive(net_[1], in, 0), Posted::lost);
  EXPECT_EQ(receive(net_[1], in, any_peer), Posted::accepted);
  EXPECT_EQ(of_kind(net_[1], Completion::Kind::receive).size(), 1U) << "the third is not there in place of the second";
}

TEST_F(SessionsTest, APeerThatForgotTheSessionIsGivenUpAtBothEnds) {
  for (const bool secret : {false, true}) {
    Network net(1, chosen());
    if (secret) {
      net.job = secret::Key{std::byte{5}};
      for (const PeerId node : {0U, 1U}) net.restart(node, 100);
    }
    Bytes out = pattern(100);
    send(net[0], 1, out);
    net.settle();
    net.restart(1, 1000);
    send(net[0], 1, out);
    Bytes in(100);
    receive(net[1], in, 0);
    net.run(limit_ns, step_ns);
    ASSERT_EQ(partings(net[0]).size(), 1U) << secret;
    EXPECT_EQ(partings(net[0])[0].outcome, Outcome::restarted);
    ASSERT_EQ(partings(net[1]).size(), 1U) << secret;
    EXPECT_EQ(send(net[0], 1, out), Posted::lost);
    EXPECT_EQ(send(net[1], 0, out), Posted::lost);
  }
}

TEST_F(SessionsTest, APeerThatClosedWithNothingOnItsWayMayComeBack) {
  net_.run(limit_ns / 10, step_ns);
  Bytes in(8);
  net_[1].engine->close(net_.now);
  net_.settle();
  net_.restart(1, 1000);
  Bytes out = pattern(8, 3);
  receive(net_[1], in, 0);
  ASSERT_EQ(send(net_[0], 1, out), Posted::accepted);
  net_.run(limit_ns, step_ns);
  EXPECT_TRUE(partings(net_[0]).empty());
  EXPECT_TRUE(in == out);
}

// BYE goes more than once. Whoever has had the first says nothing more: the peer may be gone, and the rails with it.
TEST_F(SessionsTest, APeerThatClosedIsNotAnsweredAndItsRailsAreNotLost) {
  net_.run(limit_ns / 10, step_ns);
  const std::uint64_t asked = net_[0].engine->counters()[Count::probes_sent];
  net_.answer = [](std::uint32_t, PeerId from) { return from == 0 ? Put::failed : Put::done; };
  net_[1].engine->close(net_.now);
  net_.run(limit_ns, step_ns);
  EXPECT_GT(net_[0].engine->counters()[Count::stale_packets], 0U) << "the later ones came";
  EXPECT_EQ(net_[0].engine->counters()[Count::probes_sent], asked);
  EXPECT_EQ(net_[0].engine->counters()[Count::rails_lost], 0U);
}

TEST_F(SessionsTest, AByeThatReachesNobodyIsNoLostRail) {
  net_.answer = [](std::uint32_t, PeerId) { return Put::failed; };
  net_[0].engine->close(net_.now);
  EXPECT_EQ(net_[0].engine->counters()[Count::rails_lost], 0U);
}

// Empty messages cost memory too.
TEST_F(SessionsTest, WhatIsKeptForAnOutageIsBoundedAndPushesBack) {
  Options options = chosen();
  options.log_bytes = 1 << 20;
  Network net(1, options);
  net.lose = [](const Network::Packet&) { return true; };
  Bytes nothing;
  std::size_t accepted = 0;
  while (accepted < 1'000'000 && send(net[0], 1, nothing) == Posted::accepted) ++accepted;
  EXPECT_GT(accepted, 500U);
  EXPECT_LT(accepted, 10'000U);
  EXPECT_EQ(send(net[0], 1, nothing), Posted::again);
  net.lose = [](const Network::Packet&) { return false; };
  net.run(limit_ns / 2, step_ns);
  EXPECT_EQ(send(net[0], 1, nothing), Posted::accepted);
}

}  // namespace
}  // namespace holdfast::transport
