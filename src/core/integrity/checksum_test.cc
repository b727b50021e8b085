// The conformance suite of the checksums: published answers, sums of other people's libraries, a plain restatement of
// the definitions, and that neither copying nor cutting changes a sum.
#include "core/integrity/checksum.h"

#include <gtest/gtest.h>
#include <isa-l.h>
#include <xxhash.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/integrity/crc32c.h"

namespace holdfast::integrity {
namespace {

using Bytes = std::span<const std::byte>;

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed = 7) {
  std::mt19937_64 draw(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw());
  return bytes;
}

std::uint64_t byte_at(Bytes bytes, std::size_t i) {
  return i < bytes.size() ? std::to_integer<std::uint64_t>(bytes[i]) : 0;
}

// The definitions, word by word.
std::uint64_t plain_sum(Bytes bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += byte_at(bytes, i) << (8 * (i % 8));
  return sum;
}
std::uint64_t plain_fletcher(Bytes bytes) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < 4; ++j) word |= byte_at(bytes, i + j) << (8 * j);
    first = (first + word) % 0xFFFFFFFF;
    second = (second + first) % 0xFFFFFFFF;
  }
  return second << 32 | first;
}
std::uint64_t isal_crc(Bytes bytes) {
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));  // ISA-L's signature
  return static_cast<std::uint32_t>(~crc32_iscsi(data, static_cast<int>(bytes.size()), 0xFFFFFFFF));
}
std::uint64_t oracle(Checksum algorithm, Bytes bytes) {
  switch (algorithm) {
    case Checksum::none:
      return 0;
    case Checksum::sum:
      return plain_sum(bytes);
    case Checksum::fletcher64:
      return plain_fletcher(bytes);
    case Checksum::crc32c:
      return isal_crc(bytes);
    case Checksum::xxh3_64:
      return XXH3_64bits(bytes.data(), bytes.size());
  }
  return 1;
}

class ChecksumTest : public testing::TestWithParam<Checksum> {};

TEST_P(ChecksumTest, AgreesWithTheDefinitionForEveryLengthCopiedAndNot) {
  const std::vector<std::byte> bytes = random_bytes(3000);
  std::vector<std::byte> copy(3016);
  for (std::size_t length = 0; length <= 2900; length += length < 700 ? 1 : 13) {
    const std::size_t at = length % 17;
    const Bytes piece = Bytes(bytes).subspan(at, length);
    const std::uint64_t expected = oracle(GetParam(), piece);
    ASSERT_EQ(checksum(GetParam(), piece), expected) << length;
    std::fill(copy.begin(), copy.end(), std::byte{0x11});
    std::byte* to = copy.data() + 8 - at % 8;
    ASSERT_EQ(copy_with_checksum(GetParam(), to, piece), expected) << length;
    ASSERT_TRUE(std::equal(piece.begin(), piece.end(), to));
    ASSERT_EQ(to[length], std::byte{0x11});
    ASSERT_EQ(*(to - 1), std::byte{0x11});
  }
}

TEST_P(ChecksumTest, AgreesForLongInputsAndTheLargestWords) {
  for (const std::size_t length : {65536UL, 262144UL + 12, 1048576UL + 3}) {
    for (const bool ones : {false, true}) {
      std::vector<std::byte> bytes = random_bytes(length);
      if (ones) std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
      std::vector<std::byte> copy(length);
      EXPECT_EQ(checksum(GetParam(), bytes), oracle(GetParam(), bytes)) << length;
      EXPECT_EQ(copy_with_checksum(GetParam(), copy.data(), bytes), oracle(GetParam(), bytes)) << length;
      EXPECT_TRUE(copy == bytes);
    }
  }
}

TEST_P(ChecksumTest, DoesNotSeeHowMemoryIsCut) {
  std::mt19937_64 draw(5);
  std::vector<std::byte> memory = random_bytes(60000);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<iovec> pieces;
    std::vector<std::byte> joined;
    std::size_t at = 0;
    while (pieces.size() < 1 + static_cast<std::size_t>(trial) % 6) {
      const std::size_t length = draw() % (1ULL << (trial % 14));
      pieces.push_back({memory.data() + at, length});
      joined.insert(joined.end(), memory.begin() + static_cast<std::ptrdiff_t>(at),
                    memory.begin() + static_cast<std::ptrdiff_t>(at + length));
      at += length + 3;
    }
    ASSERT_EQ(bytes_of(pieces), joined.size());
    const std::size_t offset = joined.empty() ? 0 : draw() % joined.size();
    const std::size_t length = joined.empty() ? 0 : draw() % (joined.size() - offset + 1);
    const Bytes range = Bytes(joined).subspan(offset, length);
    const std::uint64_t expected = oracle(GetParam(), range);
    ASSERT_EQ(gather_with_checksum(GetParam(), pieces, offset, length, nullptr), expected);
    std::vector<std::byte> gathered(length);
    ASSERT_EQ(gather_with_checksum(GetParam(), pieces, offset, length, gathered.data()), expected);
    ASSERT_TRUE(std::equal(range.begin(), range.end(), gathered.begin()));

    // Back into the list, from another message that may be longer than the list.
    const std::vector<std::byte> message = random_bytes(length + draw() % 9, static_cast<unsigned>(trial));
    ASSERT_EQ(scatter_with_checksum(GetParam(), pieces, offset, message), oracle(GetParam(), message));
    const std::size_t fit = std::min(message.size(), joined.size() - offset);
    std::vector<std::byte> back(fit);
    gather_with_checksum(Checksum::none, pieces, offset, fit, back.data());
    ASSERT_TRUE(std::equal(back.begin(), back.end(), message.begin()));
  }
}

class SeeingChecksumTest : public ChecksumTest {};

TEST_P(SeeingChecksumTest, SeesEverySingleBit) {
  std::vector<std::byte> bytes = random_bytes(600);
  const std::uint64_t good = checksum(GetParam(), bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    ASSERT_NE(checksum(GetParam(), bytes), good) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
}

std::string name_of(const testing::TestParamInfo<Checksum>& instance) {
  std::string name(checksum_names[static_cast<std::size_t>(instance.param)]);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ChecksumTest,
                         testing::Values(Checksum::none, Checksum::sum, Checksum::fletcher64, Checksum::crc32c,
                                         Checksum::xxh3_64),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, SeeingChecksumTest,
                         testing::Values(Checksum::sum, Checksum::fletcher64, Checksum::crc32c, Checksum::xxh3_64),
                         name_of);

TEST(Checksum, EveryKernelThatCopiesGivesTheSameSumsAndTheBytes) {
  const std::vector<std::byte> bytes = random_bytes(20000);
  std::vector<std::byte> copy(20000);
  for (const Crc32cKernel& kernel : crc32c_kernels()) {
    if (!kernel.supported()) continue;
    for (std::size_t length = 0; length < 9000; length += length < 1200 ? 1 : 97) {
      const Bytes piece = Bytes(bytes).subspan(length % 61, length);
      std::byte* to = copy.data() + length % 7;
      ASSERT_EQ(kernel.copy_extend(0, to, piece), isal_crc(piece)) << kernel.name << " " << length;
      ASSERT_TRUE(std::equal(piece.begin(), piece.end(), to)) << kernel.name << " " << length;
      const std::uint32_t half = kernel.copy_extend(0, to, piece.first(length / 3));
      ASSERT_EQ(kernel.copy_extend(half, to, piece.subspan(length / 3)), isal_crc(piece)) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace holdfast::integrity
