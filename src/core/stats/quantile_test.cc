#include "core/stats/quantile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace holdfast::stats {
namespace {

// Expected values: R 4, quantile(c(1, 2, 4, 8, 16), type = 7), by hand from the definition.
TEST(Quantile, IsDefinition7) {
  const std::vector<double> values{16, 1, 8, 2, 4};
  EXPECT_DOUBLE_EQ(quantile(values, 0).value(), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.1).value(), 1.4);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25).value(), 2);
  EXPECT_DOUBLE_EQ(median(values).value(), 4);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9).value(), 12.8);
  EXPECT_DOUBLE_EQ(quantile(values, 1).value(), 16);
}

TEST(Quantile, OfEvenManyIsBetweenTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 3, 2}).value(), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}).value(), 7);
}

TEST(Quantile, RefusesWhatHasNone) {
  EXPECT_EQ(quantile({}, 0.5).status().code(), Code::bad_input);
  const std::vector<double> values{1, 2};
  EXPECT_FALSE(quantile(values, 1.01));
  EXPECT_FALSE(quantile(values, -0.01));
  EXPECT_FALSE(quantile(values, std::nan("")));
  EXPECT_FALSE(median(std::vector<double>{1, std::nan(""), 2}));
}

}  // namespace
}  // namespace holdfast::stats
