// Rails that share, die, are busy and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/engine/joined_engines.h"

namespace holdfast::transport {
namespace {

using PathsTest = EngineTest;

TEST_F(PathsTest, TwoRailsShareByBandwidthAndASilentOneIsReplacedWithinThreeTicks) {
  Network net(2);
  Bytes out = pattern(4 << 20);
  Bytes in(out.size());
  receive(net[1], in);
  std::map<std::uint32_t, std::size_t> bytes;
  net.lose = [&](const Network::Packet& packet) {
    if (packet.from == 0) bytes[packet.rail] += packet.bytes.size();
    return false;
  };
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(5'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_GT(bytes[0], out.size() / 4);
  EXPECT_GT(bytes[1], out.size() / 4);

  net.lose = [](const Network::Packet& packet) { return packet.rail == 0; };
  std::fill(in.begin(), in.end(), std::byte{0});
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(4 * defaults().tick_ns);
  EXPECT_TRUE(in == out);
  EXPECT_NE(net[0].engine->rail(0, 1).state, RailState::up);
  EXPECT_EQ(net[0].engine->rail(1, 1).state, RailState::up);

  net.lose = [](const Network::Packet&) { return false; };
  net.run(3'000'000'000, 5'000'000);
  EXPECT_EQ(net[0].engine->rail(0, 1).state, RailState::up) << "it answers again";
  EXPECT_GT(net[0].engine->counters()[Count::probes_sent], 0U);
}

TEST_F(PathsTest, ARailThatReportsAnErrorIsOutForThatPeerOnly) {
  Network net(2, defaults(), 3);
  for (const PeerId to : {1U, 2U}) {
    Bytes out = pattern(10);
    send(net[0], to, out);
  }
  net.settle();
  net[0].engine->on_rail_failed(1, 2, net.now);
  EXPECT_EQ(net[0].engine->rail(1, 1).state, RailState::up);
  EXPECT_EQ(net[0].engine->rail(1, 2).state, RailState::out);
  EXPECT_EQ(net[0].engine->rail(0, 2).state, RailState::up);
  EXPECT_EQ(net[0].engine->counters()[Count::rails_lost], 1U);
}

TEST_F(PathsTest, MemoryOfAPendingPutStaysUntilItIsDone) {
  Network net;
  net[0].keep_puts = true;
  Bytes out = pattern(10);
  Bytes in(10);
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(1'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[0].completions.size(), 0U) << "the rail may still read the memory";
  while (!net[0].pending.empty()) {
    net[0].engine->on_put_done(net[0].pending.front(), true, net.now);
    net[0].pending.pop_front();
  }
  EXPECT_EQ(net[0].completions.size(), 1U);
}

TEST_F(PathsTest, ARailThatKeepsAPutTooLongIsTakenOut) {
  Network net(2);
  Bytes out = pattern(10);
  send(net[0], 1, out);
  net.settle();
  net[0].keep_puts = true;
  net.lose = [](const Network::Packet& packet) { return packet.from == 0; };
  send(net[0], 1, out);
  net.run(defaults().local_timeout_ns + 500'000'000, 1'000'000);
  EXPECT_GT(net[0].engine->counters()[Count::local_timeouts], 0U);
  while (!net[0].pending.empty()) {
    net[0].engine->on_put_done(net[0].pending.front(), true, net.now);
    net[0].pending.pop_front();
  }
}

TEST_F(PathsTest, ABusyRailIsTriedAgainWhenItIsReadyAndOtherwiseSoon) {
  for (const bool told : {true, false}) {
    Network net;
    Bytes out = pattern(10);
    Bytes in(10);
    send(net[0], 1, out);
    net.settle();
    receive(net[1], in, any_peer, 2);
    net.answer = [](std::uint32_t, PeerId) { return Put::busy; };
    send(net[0], 1, out, 2);
    EXPECT_EQ(net.under_way.size(), 0U);
    net.answer = [](std::uint32_t, PeerId) { return Put::done; };
    if (told) {
      net[0].engine->on_rail_ready(0, net.now);
    } else {
      net.run(1'000'000);
    }
    net.settle();
    EXPECT_TRUE(in == out);
  }
}

TEST_F(PathsTest, AHelloItsChallengeItsAnswerAndAnAcknowledgementThatFoundNoRoomGoWhenThereIs) {
  Network net;
  Bytes out = pattern(10);
  Bytes in(10);
  receive(net[1], in);
  PeerId stuck = 0;
  net.answer = [&](std::uint32_t, PeerId from) { return from == stuck ? Put::busy : Put::done; };
  send(net[0], 1, out);
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 1;
  net[0].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "the HELLO, before it is due again";
  net.settle();
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 2;
  net[1].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "its challenge";
  stuck = 1;
  net.settle();  // the HELLO with the cookie comes
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 2;
  net[1].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "its answer";
  stuck = 1;
  net.settle();  // the message comes
  EXPECT_TRUE(in == out);
  net.now += defaults().ack_delay_ns + 1;
  net[1].engine->advance(net.now);  // its acknowledgement is due, and refused
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 2;
  net[1].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "the acknowledgement";
  net.settle();
  EXPECT_TRUE(net[0].engine->idle());
}

}  // namespace
}  // namespace holdfast::transport
