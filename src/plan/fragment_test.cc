#include "plan/fragment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/integrity/crc32c.h"
#include "core/random/stream.h"
#include "core/stats/confidence.h"

namespace holdfast::plan {
namespace {

const Path noisy{8e9, 10e-6, 1e-6, 64, 1e-6, 0};

// Sends fragments over a path whose errors are drawn as gaps between wrong bits, and counts what gets through.
double simulated_goodput(const Path& path, double data_bytes, int fragments, stats::Interval& interval) {
  random::Stream stream = random::Stream(4).child("fragments").child(static_cast<std::uint64_t>(data_bytes));
  const double bits = 8 * (data_bytes + path.header_bytes);
  double next_error = std::floor(std::log1p(-stream.uniform()) / std::log1p(-path.bit_error_rate));
  std::uint64_t good = 0;
  for (int i = 0; i < fragments; ++i) {
    if (next_error >= bits) {
      ++good;
    } else {
      while (next_error < bits) {
        next_error += 1 + std::floor(std::log1p(-stream.uniform()) / std::log1p(-path.bit_error_rate));
      }
    }
    next_error -= bits;
  }
  const double one_s = bits / path.bandwidth_bit_per_s + path.fragment_cost_s;
  interval = stats::proportion_interval(good, static_cast<std::uint64_t>(fragments), 0.999).value();
  interval.low *= 8 * data_bytes / one_s;
  interval.high *= 8 * data_bytes / one_s;
  return static_cast<double>(good) / fragments * 8 * data_bytes / one_s;
}

TEST(Fragment, GoodputAgreesWithSimulatedFragments) {
  for (double bytes : {512.0, 4096.0, 16384.0, 65536.0}) {
    stats::Interval interval;
    simulated_goodput(noisy, bytes, 50000, interval);
    EXPECT_TRUE(interval.holds(goodput_bit_per_s(noisy, bytes))) << bytes;
  }
}

TEST(Fragment, BestLengthIsWhereSimulatedGoodputPeaks) {
  const double best = best_fragment_bytes(noisy);
  stats::Interval here, shorter, longer;
  simulated_goodput(noisy, best, 50000, here);
  simulated_goodput(noisy, best / 2, 50000, shorter);
  simulated_goodput(noisy, best * 2, 50000, longer);
  EXPECT_GT(here.low, shorter.high);
  EXPECT_GT(here.low, longer.high);
}

TEST(Fragment, BestLengthIsTheMaximumOfGoodput) {
  for (double rate : {1e-4, 1e-6, 1e-9, 1e-12}) {
    Path path = noisy;
    path.bit_error_rate = rate;
    const double best = best_fragment_bytes(path);
    EXPECT_GE(goodput_bit_per_s(path, best), goodput_bit_per_s(path, best * 1.01)) << rate;
    EXPECT_GE(goodput_bit_per_s(path, best), goodput_bit_per_s(path, best / 1.01)) << rate;
  }
  Path clean = noisy;
  clean.bit_error_rate = 0;
  EXPECT_TRUE(std::isinf(best_fragment_bytes(clean)));
  EXPECT_EQ(enough_power_of_two(clean, 1 << 20), 128 << 10);
  EXPECT_EQ(enough_power_of_two(noisy, 1), 64);
}

TEST(Fragment, WindowCoversTheRoundTrip) {
  const Path path{8e9, 100e-6, 0, 0, 0, 0};  // a fragment of 1,000 bytes lasts 1 us
  EXPECT_EQ(window_fragments(path, 1000), 101);
}

// Two wrong bits, all that a sum of 32-bit words misses: as often as the model says.
TEST(UndetectedChance, OfSumsEqualsCountedDoubleErrors) {
  random::Stream stream(9);
  constexpr std::size_t words = 16;
  std::uint64_t missed = 0;
  constexpr std::uint64_t trials = 200000;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    std::uint32_t data[words], flipped[words];
    for (auto& word : data) word = static_cast<std::uint32_t>(stream.next64());
    std::memcpy(flipped, data, sizeof data);
    const std::uint64_t first = stream.below(words * 32);
    std::uint64_t second = stream.below(words * 32 - 1);
    if (second >= first) ++second;
    for (std::uint64_t bit : {first, second}) flipped[bit / 32] ^= 1u << (bit % 32);
    std::uint32_t before = 0, after = 0;
    for (std::size_t i = 0; i < words; ++i) {
      before += data[i];
      after += flipped[i];
    }
    missed += before == after ? 1 : 0;
  }
  // the chance of a miss, given that two bits are wrong: at so low a rate two errors are all but the only case
  const Path path{8e9, 0, 1e-12, 0, 0, 0};
  const double n = words * 32;
  const double exact = undetected_chance(Check::additive32, path, words * 4) / (n * (n - 1) / 2 * 1e-24);
  const stats::Interval interval = stats::proportion_interval(missed, trials, 0.999).value();
  EXPECT_TRUE(interval.holds(exact)) << exact << " " << interval.low << " " << interval.high;
}

// What the bound rests on, with the real CRC: no pattern of 1, 2, 3 or 5 errors passes.
TEST(UndetectedChance, CrcFindsFewErrors) {
  random::Stream stream(11);
  std::vector<std::byte> zero(2048), flipped(2048);
  const std::uint32_t clean = integrity::crc32c_extend(0, zero);
  for (int errors : {1, 2, 3, 5}) {
    for (int trial = 0; trial < 20000; ++trial) {
      std::fill(flipped.begin(), flipped.end(), std::byte{0});
      for (int i = 0; i < errors; ++i) {
        const std::uint64_t bit = stream.below(2048 * 8);
        flipped[bit / 8] ^= std::byte{1} << (bit % 8);
      }
      if (flipped == zero) continue;  // errors that undid each other
      ASSERT_NE(integrity::crc32c_extend(0, flipped), clean);
    }
  }
}

TEST(UndetectedChance, OrdersTheChecksAndFollowsTheirFormulas) {
  const Path path{8e9, 10e-6, 1e-9, 0, 0, 0};
  double before = 1.1;
  for (Check check : {Check::none, Check::internet16, Check::additive32, Check::crc32c}) {
    const double chance = undetected_chance(check, path, 16384);
    EXPECT_LT(chance, before) << check_name(check);
    EXPECT_GT(chance, 0);
    before = chance;
  }
  const double n = 8 * 16384, p = 1e-9;
  EXPECT_NEAR(undetected_chance(Check::xxh3_64, path, 16384) / (n * p * 0x1p-64), 1, 1e-3);
  EXPECT_NEAR(undetected_chance(Check::crc32c, path, 16384) / (std::pow(n * p, 4) / 24 * 0x1p-31), 1, 1e-3);
  EXPECT_NEAR(undetected_chance(Check::additive32, path, 16384) / (std::pow(n * p, 2) / 2 / 64 * 33 / 32), 1, 1e-3);
  EXPECT_NEAR(undetected_chance(Check::crc32c, path, 512) / (std::pow(4096 * p, 6) / 720 * 0x1p-31), 1, 3e-2);
  Path clean = path;
  clean.bit_error_rate = 0;
  EXPECT_EQ(undetected_chance(Check::none, clean, 16384), 0);
}

TEST(UndetectedChance, OfGarbageIsThatOfTheLength) {
  Path path = noisy;
  path.garbage_share = 1;
  EXPECT_DOUBLE_EQ(undetected_chance(Check::crc32c, path, 4096), corrupt_chance(path, 4096) * 0x1p-32);
  EXPECT_DOUBLE_EQ(undetected_chance(Check::internet16, path, 4096), corrupt_chance(path, 4096) * 0x1p-16);
  EXPECT_DOUBLE_EQ(undetected_chance(Check::none, path, 4096), corrupt_chance(path, 4096));
}

TEST(UndetectedChance, OfAVeryNoisyPathIsBounded) {
  Path path = noisy;
  path.bit_error_rate = 0.1;
  EXPECT_NEAR(undetected_chance(Check::crc32c, path, 1 << 20), 0x1p-32, 1e-15);
  EXPECT_LE(undetected_chance(Check::additive32, path, 1 << 20), 33.0 / 32 / 64);
}

}  // namespace
}  // namespace holdfast::plan
