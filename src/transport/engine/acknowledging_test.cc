// What is sent again, and when; acknowledgements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/random/stream.h"
#include "transport/engine/joined_engines_for_tests.h"

namespace holdfast::transport {
namespace {

using AcknowledgingTest = EngineTest;

TEST_F(AcknowledgingTest, SendsOnlyWhatIsMissingAgain) {
  Network net;
  Bytes out = pattern(40 * net[0].engine->fragment_bytes());
  Bytes in(out.size());
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  unsigned data = 0;
  net.lose = [&](const Network::Packet& packet) {
    if (packet.bytes.size() < 10000) return false;
    ++data;
    return data == 7 || data == 9 || data == 30;
  };
  net.run(20'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], 3U);
  EXPECT_EQ(net[1].engine->counters()[Count::duplicates], 0U);
}

TEST_F(AcknowledgingTest, BytesThatChangedInTheLogBeforeTheyGoAgainAreNoticedAndReported) {
  for (const std::size_t rails : {1U, 2U}) {
    SCOPED_TRACE(rails);
    Network net(rails);
    if (rails == 2) net.traits[1].checksum = integrity::Checksum::xxh3_64;  // another sum must not hide it
    net.restart(0, 100);
    net.restart(1, 100);
    Bytes warm = pattern(8);
    Bytes in(30000);
    receive(net[1], in);
    send(net[0], 1, warm);
    net.run(5'000'000);
    unsigned puts = 0;
    net.peek_put = [&](PeerId from, std::span<const iovec> pieces) {
      if (from != 0 || pieces.size() < 2 || ++puts > 1) return;
      static_cast<std::byte*>(pieces[1].iov_base)[1234] ^= std::byte{16};  // in the log, as it goes out
    };
    Bytes out = pattern(20000);
    receive(net[1], in);
    send(net[0], 1, out);
    net.run(50'000'000);
    EXPECT_GE(net[0].engine->counters()[Count::corrupt_sources], 1U);
    EXPECT_GE(net[1].engine->counters()[Count::corrupt_fragments], 1U);
    const auto lost = of_kind(net[0], Completion::Kind::peer_lost);
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0].outcome, Outcome::spoiled);
    EXPECT_EQ(lost[0].message_bytes, 1U);
    Bytes again = pattern(20000, 2);  // nothing takes its place
    EXPECT_EQ(send(net[0], 1, again), Posted::lost);
    EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 1U);
    EXPECT_TRUE(net[0].engine->idle());
  }
}

TEST_F(AcknowledgingTest, ALostLastFragmentIsSentAgainWhenTheAcknowledgementTimerIsDue) {
  Network net;
  Bytes out = pattern(10);
  Bytes in(10);
  receive(net[1], in);
  send(net[0], 1, out);
  net.settle();
  Bytes again(10);
  receive(net[1], again);
  bool lost = false;
  net.lose = [&](const Network::Packet& packet) { return packet.from == 0 && !std::exchange(lost, true); };
  send(net[0], 1, out);
  net.settle();
  EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 1U);
  net.run(20'000'000);
  EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 2U);
  EXPECT_EQ(net[0].engine->counters()[Count::timeouts], 1U);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], 1U);
}

TEST_F(AcknowledgingTest, CorruptPayloadsAreDroppedAndSentAgainUnderEveryChecksum) {
  for (std::uint8_t algorithm = 1; algorithm < integrity::checksum_names.size(); ++algorithm) {
    Options options = defaults();
    options.checksum = static_cast<integrity::Checksum>(algorithm);
    options.fragment_bytes = 16384;
    Network net(1, options);
    Bytes out = pattern(100000);
    Bytes in(out.size());
    receive(net[1], in);
    unsigned data = 0;
    net.spoil = [&](Network::Packet& packet) {
      if (packet.bytes.size() > 1000 && ++data % 3 == 0) packet.bytes[packet.bytes.size() - 5] ^= std::byte{4};
    };
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.run(50'000'000);
    EXPECT_TRUE(in == out) << integrity::checksum_names[algorithm];
    EXPECT_GT(net[1].engine->counters()[Count::corrupt_fragments], 0U);
  }
}

TEST_F(AcknowledgingTest, OneLostPacketInTwentyIsSentAgainAndNothingElse) {
  Options options = defaults();
  options.fragment_bytes = 1328;
  Network net(1, options);
  Bytes out = pattern(16 << 20);
  Bytes in(out.size());
  random::Stream chance(1);
  std::uint64_t lost = 0;
  net.lose = [&](const Network::Packet& packet) {
    if (!chance.chance(1, 20)) return false;
    lost += packet.bytes.size() > 1000 ? 1 : 0;
    return true;
  };
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(1'000'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[1].engine->counters()[Count::duplicates], 0U);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], lost);
  EXPECT_EQ(net[0].engine->rail(0, 1).window_bytes, options.window_bytes);
}

TEST_F(AcknowledgingTest, APeerThatIsSilentForAWhileGetsTwoFragmentsATimeoutAndKeepsItsWindow) {
  for (const std::size_t rails : {1U, 2U}) {
    SCOPED_TRACE(rails);
    Options options = defaults();
    options.fragment_bytes = 1328;
    options.vfrag_window = 64;
    Network net(rails, options);
    Bytes out = pattern(1 << 20);
    Bytes in(out.size());
    receive(net[1], in);
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.run(1'000'000);
    EXPECT_TRUE(in == out);
    std::fill(in.begin(), in.end(), std::byte{0});
    receive(net[1], in);
    std::deque<Network::Packet> waiting;  // in the peer's socket, while its process waits for a processor
    net.lose = [&](const Network::Packet& packet) {
      if (packet.to == 1) waiting.push_back(packet);
      return packet.to == 1;
    };
    const std::size_t window = net[0].engine->rail(0, 1).window_bytes;
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.run(20'000'000);
    EXPECT_LT(waiting.size(), 20 + 790 * rails);
    const std::uint64_t timeouts = net[0].engine->counters()[Count::timeouts];
    EXPECT_GT(timeouts, 0U);
    EXPECT_LE(net[0].engine->counters()[Count::fragments_retransmitted], 2 * timeouts);
    net.lose = [](const Network::Packet&) { return false; };
    net.under_way = std::move(waiting);
    net.run(5'000'000);
    EXPECT_TRUE(in == out);
    EXPECT_LE(net[0].engine->counters()[Count::fragments_retransmitted], 2 * timeouts);
    EXPECT_GE(net[0].engine->rail(0, 1).window_bytes, window);
  }
}

TEST_F(AcknowledgingTest, AnAcknowledgementWithoutRoomForAllLosesNothing) {
  Options options = defaults();
  options.fragment_bytes = 1328;
  options.window_bytes = 64 << 20;  // more than 64 VFRAGs under way, each with a gap
  Network net(1, options);
  net.traits[0].most_packet_bytes = 1472;
  net.restart(0, 100);
  net.restart(1, 100);
  Bytes out = pattern(64 << 20);
  Bytes in(out.size());
  unsigned data = 0;
  std::uint64_t lost = 0;
  net.lose = [&](const Network::Packet& packet) {
    const bool gone = packet.bytes.size() > 1400 && ++data % 40 == 7;
    lost += gone ? 1U : 0U;
    return gone;
  };
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(1'000'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[1].engine->counters()[Count::duplicates], 0U);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], lost);
}

// A rail dies under more partial VFRAGs than one acknowledgement names. What the other rail has brought of the rest has
// to be told all the same: otherwise it fills that rail's window, and what died with the first rail finds no room.
TEST_F(AcknowledgingTest, WhatOneAcknowledgementHasNoRoomForTheNextOnesTell) {
  Options options = defaults();
  options.fragment_bytes = 1024;
  options.window_bytes = 256 << 10;
  Network net(2, options);
  for (RailTraits& traits : net.traits) traits.most_packet_bytes = 2040;
  net.restart(0, 100);
  net.restart(1, 100);
  constexpr std::size_t messages = 600;
  Bytes out = pattern(2048);
  std::vector<Bytes> in(messages, Bytes(out.size()));
  const auto exchange = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) receive(net[1], in[i], 0, i);
    for (std::size_t i = first; i < first + count; ++i) send(net[0], 1, out, i, SendMode::acknowledged);
  };
  exchange(0, 300);
  net.run(20'000'000);
  net.lose = [](const Network::Packet& packet) { return packet.rail == 0; };
  exchange(300, 300);
  net.run(60'000'000);
  EXPECT_TRUE(std::ranges::all_of(in, [&](const Bytes& each) { return each == out; }));
  EXPECT_EQ(net[0].engine->rail(1, 1).state, RailState::up);
  EXPECT_NE(net[0].engine->rail(0, 1).state, RailState::up);
}

// Beyond the share of losses that the window bears it has room for four fragments. Its last one asks for an
// acknowledgement, and is lost in one of six cases: were it the only one to ask, the peer's delay would be waited for.
TEST_F(AcknowledgingTest, ANarrowWindowDoesNotWaitForThePeersDelay) {
  Options options = defaults();
  options.fragment_bytes = 1024;
  options.ack_delay_ns = 1'000'000'000;
  options.most_timeout_ns = options.least_timeout_ns = 10'000'000'000;
  Network net(1, options);
  Bytes out = pattern(1 << 20);
  Bytes in(out.size());
  random::Stream chance(7);
  net.lose = [&](const Network::Packet& packet) { return packet.bytes.size() > 1000 && chance.chance(1, 6); };
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(100'000'000);
  EXPECT_TRUE(in == out);
}

TEST_F(AcknowledgingTest, AcknowledgementsRideOnDataThatGoesTheOtherWay) {
  Network net;
  for (int i = 0; i < 100; ++i) {
    for (const PeerId from : {0U, 1U}) {
      Bytes out = pattern(8);
      Bytes in(8);
      receive(net[1 - from], in);
      send(net[from], 1 - from, out);
      net.settle();
    }
  }
  const Counters& counters = net[0].engine->counters();
  EXPECT_GE(counters[Count::acks_piggybacked], 95U);
  EXPECT_LE(counters[Count::acks_sent] - counters[Count::acks_piggybacked], 5U);
}

}  // namespace
}  // namespace holdfast::transport
