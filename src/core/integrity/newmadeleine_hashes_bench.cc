// Figure 4 of "Fault tolerance in NewMadeleine" again: the bandwidth of its checksums and hashing functions over blocks
// of 32 kB that fit the first-level cache, beside those that are offered today. Hashes that are defined byte by byte
// are taken word by word (8 bytes), without which the paper's numbers for them cannot be reached by its processor.
// Knuth: The Art of Computer Programming, volume 3, section 6.4; Adler-32: RFC 1950; FNV: draft-eastlake-fnv;
// MurmurHash2 and SuperFastHash: their authors' pages; none is used by Holdfast.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/integrity/checksum.h"
#include "core/integrity/crc32c.h"

namespace {

using namespace holdfast::integrity;
using Bytes = std::span<const std::byte>;

constexpr std::size_t block_bytes = 32000;

template <class Word>
Word word_at(Bytes bytes, std::size_t at) {
  Word word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

// Folds the block's words, 8 bytes each, into a state.
template <class Step>
std::uint64_t over_words(Bytes bytes, std::uint64_t state, Step step) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) state = step(state, word_at<std::uint64_t>(bytes, at));
  return state;
}

std::uint64_t exclusive_or(Bytes bytes) {
  return over_words(bytes, 0, [](std::uint64_t state, std::uint64_t word) { return state ^ word; });
}

std::uint64_t adler32(Bytes bytes) {
  constexpr std::uint32_t modulus = 65521;
  constexpr std::size_t most = 5552;  // before the sums overflow
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  while (!bytes.empty()) {
    const Bytes part = bytes.first(std::min(most, bytes.size()));
    for (const std::byte byte : part) {
      low += std::to_integer<std::uint32_t>(byte);
      high += low;
    }
    low %= modulus;
    high %= modulus;
    bytes = bytes.subspan(part.size());
  }
  return (std::uint64_t{high} << 16) | low;
}

std::uint64_t jenkins_one_at_a_time(Bytes bytes) {
  return over_words(bytes, 0, [](std::uint64_t state, std::uint64_t word) {
    state += word;
    state += state << 10;
    return state ^ (state >> 6);
  });
}

std::uint64_t fowler_noll_vo(Bytes bytes) {
  return over_words(bytes, 0xcbf29ce484222325ULL,
                    [](std::uint64_t state, std::uint64_t word) { return (state ^ word) * 0x100000001b3ULL; });
}

std::uint64_t knuth(Bytes bytes) {
  return over_words(bytes, bytes.size(),
                    [](std::uint64_t state, std::uint64_t word) { return ((state << 5) ^ (state >> 59)) ^ word; });
}

std::uint64_t murmur2(Bytes bytes) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995ULL;
  return over_words(bytes, bytes.size() * factor, [](std::uint64_t state, std::uint64_t word) {
    word *= factor;
    word ^= word >> 47;
    return (state ^ (word * factor)) * factor;
  });
}

std::uint64_t super_fast(Bytes bytes) {
  std::uint32_t state = static_cast<std::uint32_t>(bytes.size());
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    state += word_at<std::uint16_t>(bytes, at);
    const std::uint32_t next = (std::uint32_t{word_at<std::uint16_t>(bytes, at + 2)} << 11) ^ state;
    state = (state << 16) ^ next;
    state += state >> 11;
  }
  return state;
}

using Function = std::uint64_t (*)(Bytes);

void measure(benchmark::State& state, Function function) {
  const std::vector<std::byte> block(block_bytes, std::byte{0x5A});
  for (auto _ : state) {
    benchmark::DoNotOptimize(block.data());
    benchmark::DoNotOptimize(function(block));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(block_bytes));
}

template <Checksum algorithm>
std::uint64_t offered(Bytes bytes) {
  return checksum(algorithm, bytes);
}

std::uint64_t crc32c_by_instruction(Bytes bytes) {
  for (const Crc32cKernel& kernel : crc32c_kernels()) {
    if (kernel.supported() && std::string(kernel.name).find("sse") != std::string::npos) return kernel.extend(0, bytes);
  }
  return crc32c_extend(0, bytes);
}

constexpr std::array<std::pair<const char*, Function>, 12> functions = {{
    {"plain sum", offered<Checksum::sum>},
    {"xor", exclusive_or},
    {"Adler-32", adler32},
    {"Fletcher-64", offered<Checksum::fletcher64>},
    {"Jenkins one-at-a-time, of words", jenkins_one_at_a_time},
    {"Fowler/Noll/Vo, of words", fowler_noll_vo},
    {"Knuth, of words", knuth},
    {"MurmurHash2, 64 bits", murmur2},
    {"Paul Hsieh's SuperFast", super_fast},
    {"CRC32C by the instruction (SSE4.2)", crc32c_by_instruction},
    {"CRC32C, best kernel", offered<Checksum::crc32c>},
    {"XXH3-64", offered<Checksum::xxh3_64>},
}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, function] : functions) {
    benchmark::RegisterBenchmark(name, [function = function](benchmark::State& state) { measure(state, function); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
