#include "transport/wire/packet_seal.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace holdfast::transport::wire {
namespace {

using Bytes = std::vector<std::byte>;

secret::Key some_key(unsigned seed) {
  secret::Key key;
  std::mt19937_64 draw(seed);
  for (std::byte& byte : key) byte = static_cast<std::byte>(draw());
  return key;
}

Bytes some_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

std::string hex(const Tag& tag) {
  std::string text;
  for (const std::byte byte : tag) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

class Seals : public testing::TestWithParam<Cipher> {};

TEST_P(Seals, TheTagDoesNotDependOnHowThePacketIsCut) {
  const Bytes bytes = some_bytes(1000);
  PacketSeal seal(some_key(1), GetParam());
  const Tag whole = seal.tag(3, 9, bytes, {});
  for (const std::size_t cut : {0UL, 1UL, 15UL, 16UL, 56UL, 57UL, 999UL, 1000UL}) {
    Bytes tail(bytes.begin() + static_cast<std::ptrdiff_t>(cut), bytes.end());
    const std::size_t half = tail.size() / 2;
    const iovec rest[] = {{tail.data(), half}, {nullptr, 0}, {tail.data() + half, tail.size() - half}};
    EXPECT_EQ(seal.tag(3, 9, std::span(bytes).first(cut), rest), whole) << cut;
  }
}

TEST_P(Seals, EveryBitOfPacketKeyRailAndNumberCounts) {
  const Bytes bytes = some_bytes(100);
  PacketSeal seal(some_key(1), GetParam());
  const Tag good = seal.tag(3, 9, bytes, {});
  EXPECT_EQ(PacketSeal(some_key(1), GetParam()).tag(3, 9, bytes, {}), good);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes other = bytes;
    other[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_NE(seal.tag(3, 9, other, {}), good) << bit;
  }
  for (unsigned bit = 0; bit < 64; ++bit) EXPECT_NE(seal.tag(3, 9 ^ (std::uint64_t{1} << bit), bytes, {}), good) << bit;
  for (unsigned bit = 0; bit < 8; ++bit)
    EXPECT_NE(seal.tag(static_cast<std::uint8_t>(3U ^ (1U << bit)), 9, bytes, {}), good) << bit;
  for (std::size_t bit = 0; bit < 256; ++bit) {
    secret::Key key = some_key(1);
    key[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_NE(PacketSeal(key, GetParam()).tag(3, 9, bytes, {}), good) << bit;
  }
  EXPECT_NE(seal.tag(3, 9, some_bytes(99), {}), good);
}

INSTANTIATE_TEST_SUITE_P(Ciphers, Seals, testing::Values(Cipher::aes256_gcm, Cipher::chacha20_poly1305),
                         [](const auto& test) { return test.param == Cipher::aes256_gcm ? "aes256_gcm" : "chacha20"; });

// The GCM specification's test case 13: AES-256, a key and a nonce of zeros, nothing to encrypt.
TEST(PacketSeal, IsGmac) {
  PacketSeal seal(secret::Key{}, Cipher::aes256_gcm);
  EXPECT_EQ(hex(seal.tag(0, 0, {}, {})), "530f8afbc74536b9a963b4f1c4cb738b");
}

TEST(PacketSeal, TheCiphersAreNotOne) {
  const Bytes bytes = some_bytes(64);
  EXPECT_NE(PacketSeal(some_key(2), Cipher::aes256_gcm).tag(0, 1, bytes, {}),
            PacketSeal(some_key(2), Cipher::chacha20_poly1305).tag(0, 1, bytes, {}));
}

// What a writer lays and what a reader holds against the tag are the same bytes.
TEST(PacketSeal, AReaderSeesWhatTheWriterSealed) {
  const Bytes payload = some_bytes(9);
  DataFrame data;
  data.bytes = 9;
  data.total = 9;
  Bytes buffer(most_data_header_bytes);
  Writer writer(buffer, {.rail = 2, .session = 1, .key = 5, .stamp = 6, .number = 7, .tag = {}});
  writer.add(data);
  PacketSeal seal(some_key(3), Cipher::chacha20_poly1305);
  Bytes copy = payload;
  const iovec rest = {copy.data(), copy.size()};
  const auto headers = writer.seal(seal.tag(2, 7, writer.lay(payload.size()), {&rest, 1}));
  Bytes packet(headers.begin(), headers.end());
  packet.insert(packet.end(), payload.begin(), payload.end());
  Reader reader;
  ASSERT_EQ(reader.open(packet), Refusal::none);
  Bytes after(reader.after_header().begin(), reader.after_header().end());
  const iovec body = {after.data(), after.size()};
  const auto first = reader.untagged();
  EXPECT_EQ(seal.tag(reader.header().rail, reader.header().number, first, {&body, 1}), reader.header().tag);
}

}  // namespace
}  // namespace holdfast::transport::wire
