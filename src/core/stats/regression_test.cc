#include "core/stats/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace holdfast::stats {
namespace {

// NIST Statistical Reference Datasets, linear regression: Norris, 36 points (J. Norris, NIST, calibration of ozone
// monitors), with certified values.
TEST(FitLine, EqualsNistNorris) {
  const std::vector<double> y{0.1, 338.8, 118.1, 888.0, 9.2,   228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3,
                              0.1, 778.1, 668.8, 339.3, 448.9, 10.8,  557.7, 228.3, 998.0, 888.8, 119.6, 0.3,
                              0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2,  117.6, 228.9, 668.4, 449.2, 0.2};
  const std::vector<double> x{0.2, 337.4, 118.2, 884.6, 10.1,  226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4,
                              0.6, 775.5, 666.9, 338.0, 447.5, 11.6,  556.0, 228.1, 995.8, 887.6, 120.2, 0.3,
                              0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1,  118.3, 229.2, 669.1, 448.9, 0.5};
  const Line line = fit_line(x, y).value();
  EXPECT_EQ(line.count, 36u);
  EXPECT_NEAR(line.intercept, -0.262323073774029, 1e-11);
  EXPECT_NEAR(line.slope, 1.00211681802045, 1e-13);
  EXPECT_NEAR(line.intercept_error, 0.232818234301152, 1e-11);
  EXPECT_NEAR(line.slope_error, 0.429796848199937E-03, 1e-14);
  EXPECT_NEAR(line.r2, 0.999993745883712, 1e-14);
}

TEST(FitLine, OfTwoPointsHasNoError) {
  const Line line = fit_line(std::vector<double>{1, 3}, std::vector<double>{10, 4}).value();
  EXPECT_DOUBLE_EQ(line.slope, -3);
  EXPECT_DOUBLE_EQ(line.at(2), 7);
  EXPECT_DOUBLE_EQ(line.r2, 1);
  EXPECT_TRUE(std::isnan(line.slope_error));
}

TEST(FitLine, OfALevelLineExplainsNothing) {
  const Line line = fit_line(std::vector<double>{1, 2, 3}, std::vector<double>{5, 5, 5}).value();
  EXPECT_EQ(line.slope, 0);
  EXPECT_EQ(line.r2, 0);
}

TEST(FitLine, RefusesWhatHasNoLine) {
  EXPECT_FALSE(fit_line(std::vector<double>{1, 2}, std::vector<double>{1}));
  EXPECT_FALSE(fit_line(std::vector<double>{1}, std::vector<double>{1}));
  EXPECT_FALSE(fit_line(std::vector<double>{0.1, 0.1, 0.1}, std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(fit_line(std::vector<double>{1, 2}, std::vector<double>{1, INFINITY}));
}

}  // namespace
}  // namespace holdfast::stats
