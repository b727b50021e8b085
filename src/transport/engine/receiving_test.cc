// Packets that are wrong in what they carry, and in what they say of it: nothing of them reaches memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/integrity/checksum.h"
#include "transport/engine/joined_engines_for_tests.h"
#include "transport/wire/packet.h"

namespace holdfast::transport {
namespace {

/// The packet with another data frame and payload, as the peer itself would have written it.
Bytes rewritten(const Bytes& packet, const Bytes& payload, const std::function<void(wire::DataFrame&)>& change) {
  wire::Reader reader;
  EXPECT_EQ(reader.open(packet), wire::Refusal::none);
  wire::FrameType type{};
  do {
    EXPECT_TRUE(reader.next(type));
  } while (type != wire::FrameType::data);
  wire::DataFrame frame = reader.data();
  frame.bytes = static_cast<std::uint32_t>(payload.size());
  frame.checksum = integrity::checksum(frame.algorithm, payload);
  change(frame);
  Bytes buffer(wire::most_data_header_bytes);
  wire::Writer writer(buffer, reader.header());
  writer.add(frame);
  const std::span<const std::byte> headers = writer.finish(payload.size());
  Bytes whole(headers.begin(), headers.end());
  whole.insert(whole.end(), payload.begin(), payload.end());
  return whole;
}

class ReceivingTest : public EngineTest {
 protected:
  /// The next data packet from 0 to 1, which is under way.
  static Bytes captured(Network& net) {
    Bytes out = pattern(100);
    send(net[0], 1, out);
    EXPECT_FALSE(net.under_way.empty());
    Bytes packet = net.under_way.front().bytes;
    net.under_way.clear();
    return packet;
  }
};

// 100 bytes are held; a total of 2^64 - 50 makes a sum of 50.
TEST_F(ReceivingTest, ALengthNearTheBoundOfItsTypeIsRefusedAndNothingIsWritten) {
  for (const std::uint64_t total : {~std::uint64_t{0} - 49, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    Network net;
    Bytes first = pattern(100);
    send(net[0], 1, first);
    net.settle();
    const Bytes packet = rewritten(captured(net), pattern(64), [&](wire::DataFrame& frame) {
      frame.total = total;
      frame.offset = 4096;
    });
    const std::size_t held = net[1].engine->memory_bytes();
    net[1].engine->on_packet(0, packet, net.now);
    EXPECT_EQ(net[1].engine->memory_bytes(), held);
    EXPECT_EQ(net[1].engine->counters()[Count::stray_fragments], 1U);
  }
}

// A fragment of a write with the number of a message that waits for a receive: the message is not the write's to end.
TEST_F(ReceivingTest, AFragmentOfAnotherKindDoesNotEndAMessageOfItsNumber) {
  Options options = defaults();
  options.fragment_bytes = 64;
  Network net(1, options);
  Bytes warm = pattern(8);
  send(net[0], 1, warm);
  net.settle();
  Bytes in(8);
  receive(net[1], in);
  const Bytes packet = captured(net);
  const auto part = [](wire::DataFrame& frame) {
    frame.count = 2;
    frame.total = 100;
    frame.offset = 0;
  };
  net[1].engine->on_packet(0, rewritten(packet, pattern(50), part), net.now);
  net[1].engine->on_packet(0,
                           rewritten(packet, pattern(50),
                                     [&](wire::DataFrame& frame) {
                                       part(frame);
                                       frame.kind = wire::MessageKind::rma_write;
                                       frame.flags |= wire::DataFrame::flag_extended;
                                       frame.key = 77;
                                       ++frame.vfrag;
                                     }),
                           net.now);
  EXPECT_EQ(net[1].engine->counters()[Count::stray_fragments], 1U);
  Bytes all(100);
  receive(net[1], all);  // takes what is there of the message, and waits for the rest
  net[1].engine->on_packet(0,
                           rewritten(packet, pattern(50),
                                     [&](wire::DataFrame& frame) {
                                       part(frame);
                                       frame.index = 1;
                                       frame.offset = 50;
                                     }),
                           net.now);
  ASSERT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 2U);
  EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).back().bytes, 100U);
}

// What peers say of operations that were never asked of them ends nothing.
TEST_F(ReceivingTest, AnAnswerToAMessageThatAsksForNoneIsRefused) {
  Network net;
  Bytes warm = pattern(8);
  Bytes in(8);
  receive(net[1], in);
  receive(net[0], in);
  send(net[0], 1, warm);
  send(net[1], 0, warm);
  net.settle();
  net[0].completions.clear();
  const Bytes from_peer = [&] {
    send(net[1], 0, warm);
    Bytes packet = net.under_way.front().bytes;
    net.under_way.clear();
    return packet;
  }();
  Bytes out = pattern(5000);
  send(net[0], 1, out, 0, SendMode::acknowledged);  // nothing of it arrives
  net.under_way.clear();
  for (std::uint64_t index = 0; index < 8; ++index) {
    for (std::uint64_t generation = 1; generation < 8; generation += 2) {
      net[0].engine->on_packet(0,
                               rewritten(from_peer, {},
                                         [&](wire::DataFrame& frame) {
                                           frame.kind = wire::MessageKind::rma_done;
                                           frame.total = 0;
                                           frame.tag = generation << 32 | index;
                                         }),
                               net.now);
    }
  }
  EXPECT_TRUE(of_kind(net[0], Completion::Kind::send).empty());
}

// A wildcard receive, a long message of one peer whose packet is spoiled, and a short one of another, which comes
// first.
TEST_F(ReceivingTest, ACorruptFragmentLeavesNoTraceInAReceiveThatAnotherMessageTakes) {
  Network net(1, defaults(), 3);
  Bytes warm = pattern(8);
  for (const PeerId from : {0U, 1U}) {
    Bytes in(8);
    receive(net[2], in);
    send(net[from], 2, warm);
    net.settle();
  }
  net[2].completions.clear();
  const Bytes untouched(2000, std::byte{0xA5});
  Bytes in = untouched;
  receive(net[2], in);
  bool spoiled = false;
  net.spoil = [&](Network::Packet& packet) {
    if (packet.from != 0 || packet.bytes.size() < 1000 || std::exchange(spoiled, true)) return;
    packet.bytes[packet.bytes.size() - 100] ^= std::byte{1};
  };
  Bytes longer = pattern(1500);
  Bytes shorter = pattern(10, 2);
  send(net[0], 2, longer);
  net.settle();
  EXPECT_EQ(net[2].engine->counters()[Count::corrupt_fragments], 1U);
  EXPECT_TRUE(in == untouched);
  send(net[1], 2, shorter);
  net.settle();
  ASSERT_EQ(net[2].completions.size(), 1U);
  EXPECT_EQ(net[2].completions[0].bytes, 10U);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), in.begin()));
  EXPECT_TRUE(std::equal(in.begin() + 10, in.end(), untouched.begin() + 10));
}

}  // namespace
}  // namespace holdfast::transport
