#include "simulate/collective/link_crc.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random/stream.h"

namespace holdfast::simulate::collective {
namespace {

using Bytes = std::vector<std::byte>;

// The sample local packet of the InfiniBand Architecture Specification 1.3, 7.8.1, without its checksums.
Bytes sample_packet() {
  const int values[] = {0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 0x0A, 0x20, 0x24, 0x87, 0x00,
                        0x87, 0xB1, 0xB3, 0x00, 0x0D, 0xEC, 0x2A, 0x01, 0x71, 0x0A, 0x1C, 0x01, 0x5D,
                        0x40, 0x02, 0x38, 0xF2, 0x7A, 0x05, 0x00, 0x00, 0x00, 0x0E, 0xBB, 0x88, 0x4D,
                        0x85, 0xFD, 0x5C, 0xFB, 0xA4, 0x72, 0x8B, 0xC0, 0x69, 0x0E, 0xD4, 0x00, 0x00};
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// The shift register as the specification draws it: one bit at a time, each byte's least significant bit first.
template <class Word>
Word shift_register(Word polynomial, const Bytes& bytes) {
  constexpr int width = sizeof(Word) * 8;
  Word reg = static_cast<Word>(~Word{0});
  for (const std::byte byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool in = ((std::to_integer<unsigned>(byte) >> bit) & 1) != 0;
      const bool out = ((reg >> (width - 1)) & 1) != 0;
      reg = static_cast<Word>(reg << 1);
      if (in != out) reg = static_cast<Word>(reg ^ polynomial);
    }
  }
  Word reversed = 0;  // the coefficient of the highest power is sent first, as bit 0 of the first byte
  for (int bit = 0; bit < width; ++bit) {
    if (((reg >> bit) & 1) != 0) reversed = static_cast<Word>(reversed | (Word{1} << (width - 1 - bit)));
  }
  return static_cast<Word>(~reversed);
}

TEST(LinkCrc, InvariantCrcOfTheSpecificationsPacket) {
  const std::uint32_t crc = invariant_crc(sample_packet());
  EXPECT_EQ(crc, 0x5AB72596U);  // on the wire 96 25 B7 5A, as the specification prints it
}

TEST(LinkCrc, InvariantCrcIgnoresWhatSwitchesChange) {
  Bytes other = sample_packet();
  other[0] = std::byte{0x20};   // another virtual lane
  other[12] = std::byte{0x5A};  // the reserved byte
  EXPECT_EQ(invariant_crc(other), invariant_crc(sample_packet()));
  other[1] ^= std::byte{0x10};  // the service level is none of these
  EXPECT_NE(invariant_crc(other), invariant_crc(sample_packet()));
}

// Remainders of single bits by the polynomial x^16 + x^12 + x^3 + x + 1, as published tables of it give them: two
// messages that differ in one bit differ in the checksum by the remainder of that bit.
TEST(LinkCrc, VariantCrcHasThePublishedRemainders) {
  const Bytes zeros(24);
  const std::pair<int, std::uint16_t> known[] = {{0x01, 0x1BA1}, {0x02, 0x3742}, {0x10, 0x1A01},
                                                 {0x40, 0x6804}, {0x80, 0xD008}, {0xFF, 0x0960}};
  for (const auto& [byte, remainder] : known) {
    Bytes bytes = zeros;
    bytes.back() = static_cast<std::byte>(byte);
    EXPECT_EQ(variant_crc(bytes) ^ variant_crc(zeros), remainder) << byte;
  }
}

TEST(LinkCrc, VariantCrcCoversTheInvariantOne) {
  Bytes packet = sample_packet();
  for (const int value : {0x96, 0x25, 0xB7, 0x5A}) packet.push_back(static_cast<std::byte>(value));
  EXPECT_EQ(variant_crc(packet), shift_register<std::uint16_t>(0x100B, packet));
  EXPECT_EQ(variant_crc(packet), 0xFA45);
}

TEST(LinkCrc, EqualsTheShiftRegisterAtEveryLength) {
  random::Stream stream(7);
  for (std::size_t length = 20; length < 320; ++length) {
    Bytes bytes(length);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(stream.next64());
    EXPECT_EQ(variant_crc(bytes), shift_register<std::uint16_t>(0x100B, bytes)) << length;
    Bytes masked = bytes;
    masked[0] |= std::byte{0xF0};
    masked[12] = std::byte{0xFF};
    EXPECT_EQ(invariant_crc(bytes), shift_register<std::uint32_t>(0x04C11DB7, masked)) << length;
  }
}

}  // namespace
}  // namespace holdfast::simulate::collective
