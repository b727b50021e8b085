// Two or three engines joined by a network in the test's hands: each behaviour by itself. What holds under every
// mixture of faults is the business of the worlds (src/transport/world).
#include "transport/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "transport/engine/joined_engines_for_tests.h"

namespace holdfast::transport {
namespace {

TEST_F(EngineTest, CarriesMessagesOfEveryLengthBothWaysRoundTheEagerLimit) {
  for (const std::size_t size : {0UL, 1UL, 8UL, 16384UL, 16385UL, 65536UL, 65537UL, 1048576UL, 1048577UL, 5000000UL}) {
    for (const SendMode mode : {SendMode::buffered, SendMode::acknowledged}) {
      for (const bool expected : {true, false}) {
        Network net;
        Bytes out = pattern(size);
        Bytes in(size);
        if (expected) receive(net[1], in, 0, 7);
        ASSERT_EQ(send(net[0], 1, out, 7, mode), Posted::accepted);
        net.settle();
        net.run(1'000'000);
        if (!expected) receive(net[1], in, any_peer, 7);
        net.run(20'000'000);
        const auto received = of_kind(net[1], Completion::Kind::receive);
        ASSERT_EQ(received.size(), 1U) << size;
        EXPECT_EQ(received[0].outcome, Outcome::ok);
        EXPECT_EQ(received[0].bytes, size);
        EXPECT_EQ(received[0].peer, 0U);
        EXPECT_TRUE(received[0].released);
        EXPECT_TRUE(in == out) << size;
        const auto sent = of_kind(net[0], Completion::Kind::send);
        ASSERT_EQ(sent.size(), 1U);
        EXPECT_EQ(sent[0].outcome, Outcome::ok);
        EXPECT_EQ(net[0].engine->objects_in_use(), 0U);
        EXPECT_EQ(net[1].engine->objects_in_use(), 0U);
        EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], 0U);
      }
    }
  }
}

TEST_F(EngineTest, MatchesByPeerTagAndIgnoredBitsInTheOrderOfSending) {
  Network net(1, defaults(), 3);
  std::vector<Bytes> out;
  for (unsigned i = 0; i < 6; ++i) out.push_back(pattern(10 + i, i));
  std::vector<Bytes> in(6, Bytes(100));
  send(net[0], 2, out[0], 0xA1);
  send(net[1], 2, out[1], 0xA1);
  send(net[0], 2, out[2], 0xB2);
  send(net[0], 2, out[3], 0xA1);
  net.settle();
  receive(net[2], in[0], 0, 0xB2, 0, &in[0]);         // passes 0xA1 by
  receive(net[2], in[1], 0, 0xA0, 0x0F, &in[1]);      // the first 0xA? of 0
  receive(net[2], in[2], any_peer, 0xA1, 0, &in[2]);  // now 1's came before 0's second, or after
  receive(net[2], in[3], any_peer, 0xA1, 0, &in[3]);
  net.settle();
  const auto received = of_kind(net[2], Completion::Kind::receive);
  ASSERT_EQ(received.size(), 4U);
  const auto length = [&](const Bytes& buffer) {
    for (const Completion& each : received) {
      if (each.context == &buffer) return each.bytes;
    }
    return std::size_t{0};
  };
  EXPECT_EQ(length(in[0]), 12U);
  EXPECT_EQ(length(in[1]), 10U);
  EXPECT_EQ(length(in[2]) + length(in[3]), 11U + 13U);
}

TEST_F(EngineTest, TruncatesToTheReceivesLengthEagerAndAnnounced) {
  for (const std::size_t size : {1000UL, 500000UL}) {
    for (const std::size_t room : {0UL, 1UL, 999UL}) {
      for (const bool expected : {true, false}) {
        Network net;
        Bytes out = pattern(size);
        Bytes in(room + 8, std::byte{0x77});
        const auto post = [&] {
          const iovec one = {in.data(), room};
          net[1].engine->receive({.pieces = {&one, 1}, .tagged = true}, net.now);
        };
        if (expected) post();
        send(net[0], 1, out, 0, SendMode::acknowledged);
        net.settle();
        if (!expected) post();
        net.run(20'000'000);
        const auto received = of_kind(net[1], Completion::Kind::receive);
        ASSERT_EQ(received.size(), 1U) << size << " " << room;
        EXPECT_EQ(received[0].outcome, Outcome::truncated);
        EXPECT_EQ(received[0].bytes, room);
        EXPECT_EQ(received[0].message_bytes, size);
        EXPECT_TRUE(std::equal(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(room), out.begin()));
        EXPECT_EQ(in[room], std::byte{0x77});
        ASSERT_EQ(of_kind(net[0], Completion::Kind::send).size(), 1U);
        EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
      }
    }
  }
}

TEST_F(EngineTest, AMultiReceiveTakesMessagesUntilTooLittleIsLeft) {
  Network net;
  Bytes buffer(100);
  const iovec one = piece(buffer);
  net[1].engine->receive({.pieces = {&one, 1}, .multi = true, .least_bytes = 30, .context = &buffer}, net.now);
  for (unsigned i = 0; i < 4; ++i) {
    Bytes out(25, static_cast<std::byte>(i + 1));
    const iovec from = piece(out);
    net[0].engine->send({.peer = 1, .pieces = {&from, 1}}, net.now);
  }
  net.settle();
  const auto received = of_kind(net[1], Completion::Kind::receive);
  ASSERT_EQ(received.size(), 3U);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(received[i].buffer, buffer.data() + 25 * i);
    EXPECT_EQ(*received[i].buffer, static_cast<std::byte>(i + 1));
    EXPECT_EQ(received[i].released, i == 2);
  }
}

TEST_F(EngineTest, PeeksClaimsTakesAndDiscards) {
  for (const std::size_t size : {100UL, 300000UL}) {
    Network net;
    Bytes out = pattern(size);
    Bytes in(size);
    send(net[0], 1, out, 5, SendMode::acknowledged);
    send(net[0], 1, out, 6, SendMode::acknowledged);
    EXPECT_FALSE(net[1].engine->peek({.tagged = true, .tag = 5}, false, net.now));
    net.settle();
    const auto seen = net[1].engine->peek({.tagged = true, .tag = 5}, false, net.now);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->bytes, size);
    EXPECT_TRUE(net[1].engine->peek({.tagged = true, .tag = 5, .context = &in}, true, net.now));
    EXPECT_FALSE(net[1].engine->peek({.tagged = true, .tag = 5}, false, net.now)) << "it was set aside";
    const iovec one = piece(in);
    EXPECT_EQ(net[1].engine->receive_claimed({.pieces = {&one, 1}, .tagged = true, .context = &in}, net.now),
              Posted::accepted);
    net.run(20'000'000);
    EXPECT_TRUE(in == out);
    EXPECT_TRUE(net[1].engine->peek({.tagged = true, .tag = 6, .context = &out}, true, net.now));
    EXPECT_TRUE(net[1].engine->discard_claimed(&out, net.now));
    EXPECT_FALSE(net[1].engine->discard_claimed(&out, net.now));
    net.run(20'000'000);
    EXPECT_EQ(of_kind(net[0], Completion::Kind::send).size(), 2U);
    EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 1U);
    EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
  }
}

TEST_F(EngineTest, ACanceledReceiveCompletesAsCanceledAndTakesNothing) {
  Network net;
  Bytes in(10);
  Bytes out = pattern(10);
  receive(net[1], in, any_peer, 0, 0, &in);
  EXPECT_TRUE(net[1].engine->cancel(&in, net.now));
  EXPECT_FALSE(net[1].engine->cancel(&in, net.now));
  ASSERT_EQ(net[1].completions.size(), 1U);
  EXPECT_EQ(net[1].completions[0].outcome, Outcome::canceled);
  send(net[0], 1, out);
  net.settle();
  EXPECT_EQ(net[1].completions.size(), 1U);
}

TEST_F(EngineTest, APeerThatNoRailReachesIsReportedInBoundedTime) {
  Options options = defaults();
  options.unreachable_after_ns = 6'000'000'000;
  Network net(2, options);
  Bytes out = pattern(10);
  Bytes in(10);
  send(net[0], 1, out, 1, SendMode::acknowledged);
  net.settle();
  net.lose = [](const Network::Packet&) { return true; };
  send(net[0], 1, out, 2, SendMode::acknowledged);
  send(net[0], 1, out, 3, SendMode::buffered);
  receive(net[0], in, 1, 9);         // only 1 could answer
  receive(net[0], in, any_peer, 9);  // anybody could
  net.run(6'200'000'000, 1'000'000);
  const auto sends = of_kind(net[0], Completion::Kind::send);
  ASSERT_EQ(sends.size(), 3U);
  EXPECT_EQ(sends[1].outcome, Outcome::ok) << "it was buffered";
  EXPECT_EQ(sends[2].outcome, Outcome::unreachable);
  const auto lost = of_kind(net[0], Completion::Kind::peer_lost);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].message_bytes, 1U);
  const auto receives = of_kind(net[0], Completion::Kind::receive);
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_EQ(receives[0].outcome, Outcome::unreachable);
  EXPECT_GT(net[0].engine->counters()[Count::time_without_rail_ns], 0U);
}

TEST_F(EngineTest, ASilentPeerIsAskedOnceAKeepaliveAndMoreOftenWhileItDoesNotAnswer) {
  Network net;
  Bytes out = pattern(10);
  Bytes in(10);
  send(net[0], 1, out);
  net.settle();
  receive(net[0], in, 1, 9);  // only 1 could answer
  const auto asked_in = [&net](std::int64_t time_ns) {
    const std::uint64_t before = net[0].engine->counters()[Count::probes_sent];
    net.run(time_ns, 10'000'000);
    return net[0].engine->counters()[Count::probes_sent] - before;
  };
  const std::int64_t keepalive_ns = defaults().keepalive_ns;
  EXPECT_LE(asked_in(4 * keepalive_ns), 5U);
  net.lose = [](const Network::Packet&) { return true; };
  asked_in(2 * keepalive_ns);  // until one has had no answer
  EXPECT_GE(asked_in(4 * keepalive_ns), 24U);
  net.lose = [](const Network::Packet&) { return false; };
  asked_in(keepalive_ns);
  EXPECT_LE(asked_in(4 * keepalive_ns), 5U) << "it answers again";
  EXPECT_TRUE(of_kind(net[0], Completion::Kind::receive).empty());
}

TEST_F(EngineTest, ClosingTellsPeersAndEndsEverything) {
  Network net;
  Bytes out = pattern(500000);
  Bytes in(10);
  send(net[0], 1, out, 1, SendMode::acknowledged);
  receive(net[1], in, any_peer, 7);
  net.settle();
  net[1].engine->close(net.now);
  ASSERT_EQ(net[1].completions.size(), 1U);
  EXPECT_EQ(net[1].completions[0].outcome, Outcome::canceled);
  EXPECT_EQ(net[1].engine->objects_in_use(), 0U);
  net.settle();
  ASSERT_EQ(of_kind(net[0], Completion::Kind::send).size(), 1U);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::send)[0].outcome, Outcome::closed);
}

TEST_F(EngineTest, WithoutRoomAtTheReceiverMessagesWaitAtTheSender) {
  Options options = defaults();
  options.eager_credit_bytes = 1000;
  options.message_window = 10;
  Network net(1, options);
  std::vector<Bytes> out;
  for (unsigned i = 0; i < 30; ++i) out.push_back(pattern(400, i));
  for (Bytes& bytes : out) ASSERT_EQ(send(net[0], 1, bytes, 1), Posted::accepted);
  net.run(100'000'000, 1'000'000);
  EXPECT_EQ(net[1].engine->counters()[Count::unexpected_messages], 10U);
  Bytes in(400);
  for (unsigned i = 0; i < 30; ++i) {
    receive(net[1], in, any_peer, 1);
    net.run(200'000'000, 1'000'000);
    ASSERT_EQ(of_kind(net[1], Completion::Kind::receive).size(), i + 1);
    EXPECT_TRUE(in == out[i]) << i;
  }
}

TEST_F(EngineTest, AFullLogSaysAgainAndHasRoomLater) {
  Options options = defaults();
  options.log_bytes = 65536;
  Network net(1, options);
  Bytes out = pattern(40000);
  Bytes in(40000);
  EXPECT_EQ(send(net[0], 1, out), Posted::accepted);
  EXPECT_EQ(send(net[0], 1, out), Posted::again);
  receive(net[1], in);
  net.run(10'000'000);
  EXPECT_EQ(send(net[0], 1, out), Posted::accepted);
  Bytes longer = pattern(65537);
  EXPECT_EQ(send(net[0], 1, longer), Posted::invalid) << "it will never fit";
}

TEST_F(EngineTest, AClockThatJumpsBreaksNothing) {
  for (const std::int64_t jump : {-3'600'000'000'000, 3'600'000'000'000}) {
    Network net;
    net.now = 7'200'000'000'000;
    Bytes out = pattern(10);
    Bytes in(10);
    receive(net[1], in);
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.now += jump;
    net.run(10'000'000);
    EXPECT_TRUE(in == out);
    ASSERT_EQ(of_kind(net[0], Completion::Kind::send).size(), 1U);
    EXPECT_EQ(of_kind(net[0], Completion::Kind::send)[0].outcome, Outcome::ok);
    EXPECT_GE(net[0].engine->counters()[Count::clock_jumps], 1U);
  }
}

TEST_F(EngineTest, APeerCostsNothingBeforeItIsSpokenTo) {
  Network net(1, defaults(), 1);
  const std::size_t before = net[0].engine->memory_bytes();
  for (PeerId peer = 0; peer < 10000; ++peer) EXPECT_EQ(net[0].engine->memory_bytes(peer), 0U);
  EXPECT_EQ(net[0].engine->rail(0, 9999).state, RailState::up);
  EXPECT_EQ(net[0].engine->memory_bytes(), before);
}

}  // namespace
}  // namespace holdfast::transport
