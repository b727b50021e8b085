#include "simulate/collective/packet.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/collective/link_crc.h"

namespace holdfast::simulate::collective {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
  return bytes;
}

PacketHeader header(PacketKind kind) {
  return {.kind = kind, .lane = 3, .source = 17, .destination = 0xBFFF, .queue_pair = 0x123456, .sequence = 0xFEDCBA};
}

TEST(Packet, HasTheSizesOfTheSpecification) {
  Bytes bytes;
  write_packet(header(PacketKind::data), counting(256), bytes);
  EXPECT_EQ(bytes.size(), 282U);
  write_packet(header(PacketKind::negative_acknowledgement), {}, bytes);
  EXPECT_EQ(bytes.size(), 30U);
  EXPECT_EQ(bytes.size(), acknowledgement_bytes);
}

TEST(Packet, ReadsWhatWasWritten) {
  Bytes bytes;
  for (const PacketKind kind : {PacketKind::data, PacketKind::acknowledgement, PacketKind::negative_acknowledgement}) {
    const Bytes payload = counting(kind == PacketKind::data ? 64 : 0);
    write_packet(header(kind), payload, bytes);
    const ReceivedPacket received = read_packet(bytes);
    ASSERT_EQ(received.state, PacketState::good);
    EXPECT_EQ(received.header, header(kind));
    EXPECT_EQ(Bytes(received.payload.begin(), received.payload.end()), payload);
  }
}

TEST(Packet, EverySingleBitErrorIsFoundByTheVariantCrc) {
  Bytes bytes;
  write_packet(header(PacketKind::data), counting(256), bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_EQ(read_packet(bytes).state, PacketState::bad_variant_crc) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
  }
}

TEST(Packet, ErrorInsideASwitchIsLeftToTheInvariantCrc) {
  Bytes bytes;
  write_packet(header(PacketKind::data), counting(256), bytes);
  bytes[100] ^= std::byte{0x04};
  const std::uint16_t crc = variant_crc(std::span(bytes).first(bytes.size() - 2));  // as the switch's output port does
  bytes[280] = static_cast<std::byte>(crc & 0xFF);
  bytes[281] = static_cast<std::byte>(crc >> 8);
  EXPECT_EQ(read_packet(bytes).state, PacketState::bad_invariant_crc);
}

TEST(Packet, AnotherLaneKeepsTheInvariantCrc) {
  Bytes bytes;
  Bytes other;
  PacketHeader moved = header(PacketKind::data);
  write_packet(moved, counting(256), bytes);
  moved.lane = 7;
  write_packet(moved, counting(256), other);
  EXPECT_TRUE(std::equal(bytes.begin() + 276, bytes.begin() + 280, other.begin() + 276));
  EXPECT_FALSE(std::equal(bytes.begin() + 280, bytes.end(), other.begin() + 280));
}

TEST(Packet, EndedBadIsNeverGood) {
  Bytes bytes;
  write_packet(header(PacketKind::data), counting(256), bytes);
  end_bad_packet(bytes);
  EXPECT_EQ(read_packet(bytes).state, PacketState::bad_variant_crc);
  bytes[50] ^= std::byte{0x80};  // wrong already when it came in
  end_bad_packet(bytes);
  EXPECT_EQ(read_packet(bytes).state, PacketState::bad_variant_crc);
}

TEST(Packet, ShortAndOddBytesAreMalformed) {
  EXPECT_EQ(read_packet({}).state, PacketState::malformed);
  EXPECT_EQ(read_packet(counting(25)).state, PacketState::malformed);
  Bytes bytes;
  write_packet(header(PacketKind::data), counting(30), bytes);  // no multiple of four: the length field is wrong
  EXPECT_EQ(read_packet(bytes).state, PacketState::malformed);
}

}  // namespace
}  // namespace holdfast::simulate::collective
