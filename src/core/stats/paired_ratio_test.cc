#include "core/stats/paired_ratio.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::stats {
namespace {

TEST(PairedRatio, TellsTheTwoMediansApart) {
  const std::vector<double> mine{2, 40, 3};
  const std::vector<double> peer{1, 10, 6};
  const PairedRatio ratio = paired_ratio(mine, peer).value();
  EXPECT_DOUBLE_EQ(ratio.ratio_of_medians, 3.0 / 6);
  EXPECT_DOUBLE_EQ(ratio.median_of_ratios, 2);
  EXPECT_FALSE(ratio.has_interval);
  EXPECT_EQ(ratio.pairs, 3u);
}

TEST(PairedRatio, IsBlindToWhatSlowsBothOfAPair) {
  const std::vector<double> peer{1, 5, 2, 9, 1, 3, 7, 4, 2, 6};
  std::vector<double> mine;
  for (double value : peer) mine.push_back(1.25 * value);
  const PairedRatio ratio = paired_ratio(mine, peer).value();
  EXPECT_DOUBLE_EQ(ratio.median_of_ratios, 1.25);
  ASSERT_TRUE(ratio.has_interval);
  EXPECT_DOUBLE_EQ(ratio.interval.low, 1.25);
  EXPECT_DOUBLE_EQ(ratio.interval.high, 1.25);
}

TEST(PairedRatio, RefusesWhatCannotBeCompared) {
  EXPECT_FALSE(paired_ratio({}, {}));
  EXPECT_FALSE(paired_ratio(std::vector<double>{1}, std::vector<double>{1, 2}));
  EXPECT_FALSE(paired_ratio(std::vector<double>{1}, std::vector<double>{0}));
  EXPECT_FALSE(paired_ratio(std::vector<double>{1}, std::vector<double>{1}, 0));
}

}  // namespace
}  // namespace holdfast::stats
