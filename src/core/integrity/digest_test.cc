// The conformance suite of all digests: every kernel, and the functions that choose one, must give the published
// answers and agree with libraries that others wrote, for every length, alignment and cut.
#include "core/integrity/digest.h"

#include <gtest/gtest.h>
#include <isa-l.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "core/integrity/crc32c.h"
#include "core/integrity/digester.h"
#include "core/integrity/xxh3.h"

namespace holdfast::integrity {
namespace {

using Bytes = std::span<const std::byte>;

struct Implementation {
  std::string name;
  Algorithm algorithm;
  std::function<Digest(Bytes)> digest;
};

// Names the instance in reports, which would show its bytes otherwise.
void PrintTo(const Implementation& implementation, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << implementation.name;
}

Digest in_one_piece(Algorithm algorithm, Bytes bytes) {
  Digester digester(algorithm);
  digester.update(bytes);
  return digester.finish();
}

Digest in_two_pieces(Algorithm algorithm, Bytes bytes) {
  Digester digester(algorithm);
  digester.update(bytes.first(bytes.size() / 3));
  digester.update(bytes.subspan(bytes.size() / 3));
  return digester.finish();
}

std::vector<Implementation> implementations() {
  std::vector<Implementation> all;
  for (const Xxh3Kernel& kernel : xxh3_kernels()) {
    all.push_back({"xxh3_64_" + std::string(kernel.name), Algorithm::xxh3_64, kernel.digest_64});
    all.push_back({"xxh3_128_" + std::string(kernel.name), Algorithm::xxh3_128, kernel.digest_128});
  }
  for (const Crc32cKernel& kernel : crc32c_kernels()) {
    if (!kernel.supported()) continue;
    const std::string safe_name = kernel.name == "sse4.2" ? "sse42" : std::string(kernel.name);
    all.push_back({"crc32c_" + safe_name, Algorithm::crc32c, [&kernel](Bytes bytes) {
                     return Digest{kernel.extend(0, bytes), 0};
                   }});
  }
  for (const Algorithm algorithm : {Algorithm::xxh3_128, Algorithm::xxh3_64, Algorithm::crc32c}) {
    std::string suffix(name(algorithm));
    for (char& letter : suffix) letter = letter == '-' ? '_' : letter;
    all.push_back({"chosen_" + suffix, algorithm, [algorithm](Bytes bytes) { return digest(algorithm, bytes); }});
    all.push_back(
        {"digester_" + suffix, algorithm, [algorithm](Bytes bytes) { return in_one_piece(algorithm, bytes); }});
    all.push_back(
        {"pieces_" + suffix, algorithm, [algorithm](Bytes bytes) { return in_two_pieces(algorithm, bytes); }});
  }
  return all;
}

// What another library says: ISA-L for CRC32C, libxxhash's undispatched functions for XXH3.
Digest oracle(Algorithm algorithm, Bytes bytes) {
  switch (algorithm) {
    case Algorithm::xxh3_64:
      return {XXH3_64bits(bytes.data(), bytes.size()), 0};
    case Algorithm::xxh3_128: {
      const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
      return {hash.low64, hash.high64};
    }
    case Algorithm::crc32c: {
      auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));  // ISA-L's signature
      return {static_cast<std::uint32_t>(~crc32_iscsi(data, static_cast<int>(bytes.size()), 0xFFFFFFFF)), 0};
    }
  }
  return {};
}

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937_64 stream(2026);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(stream());
  return bytes;
}

class DigestConformance : public testing::TestWithParam<Implementation> {
 protected:
  Digest run(Bytes bytes) const { return GetParam().digest(bytes); }
  Algorithm algorithm() const { return GetParam().algorithm; }
};

TEST_P(DigestConformance, GivesThePublishedAnswers) {
  std::vector<std::byte> bytes(32);
  if (algorithm() == Algorithm::xxh3_64) {
    EXPECT_EQ(run({}).low, 0x2D06800538D394C2ULL);  // XXH3_64bits of nothing, xxHash's own sanity check
    return;
  }
  if (algorithm() == Algorithm::xxh3_128) {
    EXPECT_EQ(run({}), (Digest{0x6001C324468D497FULL, 0x99AA06D3014798D8ULL}));  // likewise
    return;
  }
  // RFC 3720, B.4, where CRCs are printed as they travel, the least significant byte first.
  EXPECT_EQ(run({}).low, 0U);
  EXPECT_EQ(run(bytes).low, 0x8A9136AAU);  // 32 zeros
  std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
  EXPECT_EQ(run(bytes).low, 0x62A8AB43U);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(run(bytes).low, 0x46DD794EU);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(31 - i);
  EXPECT_EQ(run(bytes).low, 0x113FDB5CU);
  constexpr std::array<unsigned char, 48> read_command = {
      0x01, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18,
      0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  EXPECT_EQ(run(std::as_bytes(std::span(read_command))).low, 0xD9963A56U);
}

TEST_P(DigestConformance, AgreesWithAnotherLibraryForEveryLengthAndAlignment) {
  const std::vector<std::byte> bytes = random_bytes(4096 + 64);
  for (std::size_t length = 0; length <= 4096; ++length) {
    const std::size_t alignments = length <= 256 ? 64 : 8;
    for (std::size_t alignment = 0; alignment < alignments; ++alignment) {
      const Bytes piece = Bytes(bytes).subspan(alignment, length);
      ASSERT_EQ(run(piece), oracle(algorithm(), piece)) << length << " bytes at " << alignment;
    }
  }
}

TEST_P(DigestConformance, AgreesForLongInputs) {
  const std::vector<std::byte> bytes = random_bytes(1 << 20);
  for (const std::size_t length : {6143, 6144, 6145, 6528, 12288 + 384 + 8 + 7, 65536, (1 << 20) - 1, 1 << 20}) {
    const Bytes piece = Bytes(bytes).first(length);
    EXPECT_EQ(run(piece), oracle(algorithm(), piece)) << length;
  }
}

TEST_P(DigestConformance, SeesEverySingleBit) {
  std::vector<std::byte> bytes = random_bytes(700);
  const Digest good = run(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    bytes[bit / 8] ^= mask;
    ASSERT_NE(run(bytes), good) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
}

INSTANTIATE_TEST_SUITE_P(AllKernels, DigestConformance, testing::ValuesIn(implementations()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Digest, NamesAreReadBack) {
  for (const Algorithm algorithm : {Algorithm::xxh3_128, Algorithm::xxh3_64, Algorithm::crc32c}) {
    const Result<Algorithm> found = find_algorithm(name(algorithm));
    ASSERT_TRUE(found);
    EXPECT_EQ(found.value(), algorithm);
  }
  EXPECT_EQ(find_algorithm("xxh3_46").status().message(),
            "choosing a digest: unknown algorithm 'xxh3_46': did you mean 'xxh3-64'?");
}

TEST(Digest, TheChosenCrcKernelIsTheBestSupportedOne) {
  EXPECT_EQ(crc32c_kernels().back().name, "portable");
  EXPECT_TRUE(crc32c_kernels().back().supported());
}

}  // namespace
}  // namespace holdfast::integrity
