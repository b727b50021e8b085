// Short messages that share a packet: how many do, and that what befalls it is as if each had gone by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/engine/joined_engines_for_tests.h"

namespace holdfast::transport {
namespace {

constexpr std::size_t alone_bytes = wire::packet_header_bytes + wire::data_frame_bytes;

class GatheringTest : public EngineTest {
 protected:
  explicit GatheringTest(std::size_t rails = 1) : net_(rails) {
    Bytes warm = pattern(8);
    Bytes in(8);
    receive(net_[1], in);
    send(net_[0], 1, warm);
    net_.run(20'000'000);
    net_[1].completions.clear();
  }

  // Messages of these lengths are sent while the rail has no room, and received in this order.
  void send_while_busy(const std::vector<std::size_t>& lengths) {
    net_.answer = [](std::uint32_t, PeerId from) { return from == 0 ? Put::busy : Put::done; };
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      out_.push_back(pattern(lengths[i], static_cast<unsigned>(i)));
      in_.emplace_back(lengths[i]);
    }
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      ASSERT_EQ(receive(net_[1], in_[i]), Posted::accepted);
      ASSERT_EQ(send(net_[0], 1, out_[i]), Posted::accepted);
    }
  }
  // Then it has, and with time everything arrives.
  void make_room() {
    net_.answer = [](std::uint32_t, PeerId) { return Put::done; };
    net_.peek_put = [&](PeerId from, std::span<const iovec> pieces) {
      if (from == 0 && integrity::bytes_of(pieces) > alone_bytes) packets_.push_back(integrity::bytes_of(pieces));
    };
    net_[0].engine->on_rail_ready(0, net_.now);
    net_.run(50'000'000);
    EXPECT_TRUE(out_ == in_);
    EXPECT_EQ(net_[1].completions.size(), out_.size());
    EXPECT_TRUE(net_[0].engine->idle());
  }
  std::uint64_t count(Count what) { return net_[0].engine->counters()[what]; }

  Network net_;
  std::vector<Bytes> out_;
  std::vector<Bytes> in_;
  std::vector<std::size_t> packets_;  ///< their lengths
};

TEST_F(GatheringTest, ShortMessagesThatWaitedForARailShareItsPackets) {
  send_while_busy(std::vector<std::size_t>(60, 8));
  make_room();
  EXPECT_EQ(packets_.size(), 4U) << "19 in each but the last";
  EXPECT_LE(*std::ranges::max_element(packets_), 1472U);
  EXPECT_EQ(count(Count::fragments_gathered), 60U);
  EXPECT_EQ(count(Count::fragments_retransmitted), 0U);
}

TEST_F(GatheringTest, WithoutAnyThatWaitsEachGoesAtOnce) {
  Bytes out = pattern(8);
  std::vector<Bytes> in(10, Bytes(8));
  for (std::size_t i = 0; i < in.size(); ++i) {
    receive(net_[1], in[i]);
    send(net_[0], 1, out);
    EXPECT_EQ(net_.under_way.size(), i + 1);
  }
  net_.settle();
  EXPECT_EQ(net_[1].completions.size(), 10U);
  EXPECT_EQ(count(Count::fragments_gathered), 0U);
}

TEST_F(GatheringTest, OrderIsKeptAroundLongMessagesAndEmptyOnes) {
  send_while_busy({8, 0, 200, 5000, 8, 300'000, 0, 256, 257, 1, 1});
  make_room();
  EXPECT_EQ(count(Count::fragments_gathered), 3U + 4U + 2U) << "8, 0, 200; 8, a request to send, 0, 256; 1, 1";
}

TEST_F(GatheringTest, OfALostPacketEachMessageGoesAgainAlone) {
  send_while_busy(std::vector<std::size_t>(10, 8));
  bool lost = false;
  net_.lose = [&](const Network::Packet& packet) { return packet.from == 0 && !std::exchange(lost, true); };
  make_room();
  EXPECT_EQ(count(Count::fragments_gathered), 10U);
  EXPECT_EQ(count(Count::fragments_retransmitted), 10U);
  for (std::size_t i = 1; i < packets_.size(); ++i) EXPECT_LE(packets_[i], alone_bytes + wire::ack_frame_bytes + 8);
}

TEST_F(GatheringTest, ACorruptMessageCostsNoOther) {
  send_while_busy(std::vector<std::size_t>(10, 8));
  bool done = false;
  net_.spoil = [&](Network::Packet& packet) {
    if (packet.from == 0 && !std::exchange(done, true)) packet.bytes.back() ^= std::byte{1};
  };
  make_room();
  EXPECT_EQ(net_[1].engine->counters()[Count::corrupt_fragments], 1U);
  EXPECT_EQ(count(Count::fragments_retransmitted), 1U);
  EXPECT_EQ(count(Count::timeouts), 0U) << "the others say so";
}

class GatheringOnTwoRails : public GatheringTest {
 protected:
  GatheringOnTwoRails() : GatheringTest(2) {}
};

// One packet is lost, whatever is in it: neither the rail's window shrinks nor is the rail asked what it carries.
TEST_F(GatheringOnTwoRails, ALostPacketIsOneLoss) {
  send_while_busy(std::vector<std::size_t>(19, 8));
  const std::size_t window[2] = {net_[0].engine->rail(0, 1).window_bytes, net_[0].engine->rail(1, 1).window_bytes};
  bool lost = false;
  net_.lose = [&](const Network::Packet& packet) { return packet.from == 0 && !std::exchange(lost, true); };
  make_room();
  EXPECT_EQ(count(Count::fragments_retransmitted), 19U);
  EXPECT_EQ(count(Count::rails_doubted), 0U);
  for (std::uint32_t rail = 0; rail < 2; ++rail) EXPECT_GE(net_[0].engine->rail(rail, 1).window_bytes, window[rail]);
}

}  // namespace
}  // namespace holdfast::transport
