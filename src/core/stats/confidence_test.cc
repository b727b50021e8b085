#include "core/stats/confidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

namespace holdfast::stats {
namespace {

// A generator of the test's own; nothing here depends on how good it is.
class Draws {
 public:
  double uniform() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 7;
};

// NIST/SEMATECH e-Handbook 1.3.5.2, data ZARR13.DAT: 195 numbers, mean 9.261460, standard deviation 0.022789, 95 %
// interval (9.258242, 9.264679). Rebuilt from mean and deviation alone: one number at the
// mean, 97 a deviation below and 97 above.
TEST(MeanInterval, EqualsTheNistHandbook) {
  Moments moments;
  moments.add(9.261460);
  for (int i = 0; i < 97; ++i) {
    moments.add(9.261460 - 0.022789);
    moments.add(9.261460 + 0.022789);
  }
  EXPECT_NEAR(moments.standard_deviation(), 0.022789, 1e-9);
  const Interval interval = mean_interval(moments, 0.95).value();
  EXPECT_NEAR(interval.low, 9.258242, 1e-6);
  EXPECT_NEAR(interval.high, 9.264679, 1e-6);
}

TEST(MeanInterval, CoversTheTruthAsOftenAsItSays) {
  Draws draws;
  int covered = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    Moments moments;
    for (int i = 0; i < 40; ++i) moments.add(draws.uniform());
    covered += mean_interval(moments, 0.9).value().holds(0.5) ? 1 : 0;
  }
  EXPECT_NEAR(covered / 4000.0, 0.9, 0.02);  // 4 standard deviations of the count
}

// The rule of three's exact form, and a worked value: 4 of 10 at 95 % is (0.1216, 0.7376).
TEST(ProportionInterval, IsClopperPearson) {
  const Interval none = proportion_interval(0, 20, 0.95).value();
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1 - std::pow(0.025, 1.0 / 20), 1e-12);
  const Interval all = proportion_interval(20, 20, 0.95).value();
  EXPECT_NEAR(all.low, std::pow(0.025, 1.0 / 20), 1e-12);
  EXPECT_EQ(all.high, 1);
  const Interval some = proportion_interval(4, 10, 0.95).value();
  EXPECT_NEAR(some.low, 0.1216, 5e-5);
  EXPECT_NEAR(some.high, 0.7376, 5e-5);
}

// Printed ranks for 95 %: n = 6: 1 and 6; n = 10: 2 and 9; n = 25: 8 and 18.
TEST(MedianInterval, TakesThePrintedRanks) {
  for (const auto& [count, low, high] : {std::tuple{6, 1, 6}, {10, 2, 9}, {25, 8, 18}}) {
    std::vector<double> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.rbegin(), ranks.rend(), 1.0);
    const Interval interval = median_interval(ranks, 0.95).value();
    EXPECT_EQ(interval.low, low) << count;
    EXPECT_EQ(interval.high, high) << count;
  }
}

TEST(Intervals, RefuseWhatCannotBeSaid) {
  Moments one;
  one.add(1);
  EXPECT_FALSE(mean_interval(one, 0.95));
  one.add(2);
  EXPECT_FALSE(mean_interval(one, 1));
  EXPECT_FALSE(mean_interval(one, std::nan("")));
  EXPECT_FALSE(proportion_interval(1, 0, 0.95));
  EXPECT_FALSE(proportion_interval(3, 2, 0.95));
  const Status few = median_interval(std::vector<double>{1, 2, 3, 4, 5}, 0.95).status();
  EXPECT_EQ(few.code(), Code::bad_input);
  EXPECT_EQ(few.remedy(), "measure at least 6 times");
  EXPECT_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5, std::nan("")}, 0.95));
}

}  // namespace
}  // namespace holdfast::stats
