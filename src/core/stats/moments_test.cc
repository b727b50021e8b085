#include "core/stats/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace holdfast::stats {
namespace {

// NIST Statistical Reference Datasets, univariate: NumAcc3 and NumAcc4, 1,001 numbers whose naive sum of squares loses
// every digit. Certified: standard deviation 0.1.
std::vector<double> numacc(double whole) {
  std::vector<double> values{whole + 0.2};
  for (int i = 0; i < 500; ++i) {
    values.push_back(whole + 0.1);
    values.push_back(whole + 0.3);
  }
  return values;
}

TEST(Moments, EqualNistNumAcc) {
  for (double whole : {1e6, 1e7}) {
    Moments moments;
    for (double value : numacc(whole)) moments.add(value);
    EXPECT_EQ(moments.count(), 1001u);
    EXPECT_NEAR(moments.mean(), whole + 0.2, 1e-8);
    EXPECT_NEAR(moments.standard_deviation(), 0.1, 1e-8 * whole / 1e6);
    EXPECT_EQ(moments.least(), whole + 0.1);
    EXPECT_EQ(moments.greatest(), whole + 0.3);
  }
}

TEST(Moments, OfAHandfulByHand) {
  Moments moments;
  for (double value : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) moments.add(value);
  EXPECT_DOUBLE_EQ(moments.mean(), 5);
  EXPECT_DOUBLE_EQ(moments.variance(), 32.0 / 7);
  EXPECT_DOUBLE_EQ(moments.standard_error(), std::sqrt(32.0 / 7 / 8));
}

TEST(Moments, OfNothingAndOfOne) {
  Moments moments;
  EXPECT_TRUE(std::isnan(moments.mean()) && std::isnan(moments.variance()) && std::isnan(moments.least()));
  moments.add(-3);
  EXPECT_EQ(moments.mean(), -3);
  EXPECT_EQ(moments.greatest(), -3);
  EXPECT_TRUE(std::isnan(moments.standard_error()));
}

TEST(Moments, MergedAreTheMomentsOfAll) {
  Moments all, left, right, empty;
  for (int i = 0; i < 100; ++i) {
    const double value = std::sin(i) * 1000 + 1e5;
    all.add(value);
    (i % 3 == 0 ? left : right).add(value);
  }
  left.merge(right);
  left.merge(empty);
  empty.merge(left);
  for (const Moments& joined : {left, empty}) {
    EXPECT_EQ(joined.count(), all.count());
    EXPECT_NEAR(joined.mean(), all.mean(), 1e-9);
    EXPECT_NEAR(joined.variance(), all.variance(), 1e-6);
    EXPECT_EQ(joined.least(), all.least());
    EXPECT_EQ(joined.greatest(), all.greatest());
  }
}

}  // namespace
}  // namespace holdfast::stats
