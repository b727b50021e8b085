#include "core/secret/keyed_digest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::secret {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

Key key_from(std::string_view digits) {
  Key key{};
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<std::byte>(std::stoi(std::string(digits.substr(2 * i, 2)), nullptr, 16));
  return key;
}

// OpenSSL's answer: printf 'what do ya want for nothing?' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0102...20
TEST(KeyedDigest, IsHmacSha256) {
  Key key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i + 1);
  const std::string_view text = "what do ya want for nothing?";
  EXPECT_EQ(hex(KeyedDigest(key).bytes(std::as_bytes(std::span(text))).finish()),
            "4d9d653fcd05f91cd858a20d50c74b604fe38f2cac49d9b0a7099584cf4fb35a");
}

// RFC 5869, appendix A.1: its PRK and info, and the first block of its OKM.
TEST(KeyedDigest, KeysAreDerivedAsHkdfExpands) {
  const Key key = key_from("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
  const std::string_view info = "\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9";
  const std::string_view okm = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf";
  EXPECT_EQ(hex(derive(key, info)), okm);
  EXPECT_EQ(hex(derive(key, info.substr(0, 3), std::as_bytes(std::span(info)).subspan(3))), okm);
}

TEST(KeyedDigest, ListsOfValuesDoNotRunTogether) {
  const Key key{};
  EXPECT_NE(KeyedDigest(key).text("ab").text("c").finish(), KeyedDigest(key).text("a").text("bc").finish());
  EXPECT_NE(KeyedDigest(key).number(1).number(2).finish(), KeyedDigest(key).number(2).number(1).finish());
  EXPECT_EQ(KeyedDigest(key).text("ab").finish(),
            KeyedDigest(key).number(2).bytes(std::as_bytes(std::span("ab", 2))).finish());
}

TEST(KeyedDigest, AnotherKeyGivesAnotherDigest) {
  const Key none{};
  for (std::size_t bit = 0; bit < 8 * none.size(); ++bit) {
    Key key = none;
    key[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_NE(KeyedDigest(key).number(1).finish(), KeyedDigest(none).number(1).finish()) << bit;
  }
}

TEST(KeyedDigest, DigestsAreEqualWhenAllTheirBytesAre) {
  const Digest one = KeyedDigest(Key{}).finish();
  EXPECT_TRUE(equal(one, one));
  EXPECT_FALSE(equal(one, std::span(one).first(16)));
  for (std::size_t bit = 0; bit < 8 * one.size(); ++bit) {
    Digest other = one;
    other[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(equal(one, other)) << bit;
  }
}

}  // namespace
}  // namespace holdfast::secret
