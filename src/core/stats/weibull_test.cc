#include "core/stats/weibull.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace holdfast::stats {
namespace {

std::vector<Life> failed_at(std::initializer_list<double> ages) {
  std::vector<Life> lives;
  for (const double age : ages) lives.push_back({age, age, true, 1});
  return lives;
}

/// J. Lieblein and M. Zelen, "Statistical Investigation of the Fatigue Life of Deep-Groove Ball Bearings", 1956:
/// millions of revolutions. Fitted in many books: shape 2.10, scale 81.88.
std::vector<Life> ball_bearings() {
  return failed_at({17.88, 28.92, 33.00, 41.52, 42.12, 45.60, 48.40,  51.84,  51.96,  54.12,  55.56, 67.80,
                    68.64, 68.64, 68.88, 84.12, 93.12, 98.64, 105.12, 105.84, 127.92, 128.04, 173.40});
}

/// N. Mann and K. Fertig, Technometrics 15, 1973: ten of thirteen components of aircraft failed, the test ended with
/// the tenth. J. Lawless, "Statistical Models and Methods for Lifetime Data": u = 0.821, b = 0.706 of the logarithms.
std::vector<Life> aircraft_components() {
  std::vector<Life> lives = failed_at({0.22, 0.50, 0.88, 1.00, 1.32, 1.33, 1.54, 1.76, 2.50, 3.00});
  lives.push_back({3.00, 3.00, false, 3});
  for (Life& life : lives) life.limit = 3.00;
  return lives;
}

TEST(Weibull, PublishedFits) {
  const Weibull bearings = fit_weibull(ball_bearings(), 50, 0.95).value();
  EXPECT_NEAR(bearings.shape, 2.102, 0.0015);
  EXPECT_NEAR(bearings.scale, 81.88, 0.03);
  EXPECT_EQ(bearings.failures, 23U);
  const Weibull aircraft = fit_weibull(aircraft_components(), 1, 0.95).value();
  EXPECT_NEAR(1 / aircraft.shape, 0.706, 0.0006);
  EXPECT_NEAR(std::log(aircraft.scale), 0.821, 0.0006);
  EXPECT_EQ(aircraft.failures, 10U);
  EXPECT_EQ(aircraft.lives, 13U);
}

/// The logarithm of the likelihood as it is written in books, life by life.
double log_likelihood(const std::vector<Life>& lives, double shape, double scale) {
  double sum = 0;
  for (const Life& life : lives) {
    const double power = std::pow(life.age / scale, shape);
    const double one =
        life.failed ? std::log(shape / scale) + (shape - 1) * std::log(life.age / scale) - power : -power;
    sum += one * static_cast<double>(life.count);
  }
  return sum;
}

/// The best of a grid of the other parameter: no formula of the fit is used.
double best_over(const std::function<double(double)>& curve, double low, double high) {
  double best = -std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 40'000; ++i) best = std::max(best, curve(low * std::pow(high / low, i / 40'000.0)));
  return best;
}

TEST(Weibull, IntervalsAreWhereTheLikelihoodHasFallen) {
  const std::vector<Life> lives = aircraft_components();
  const Weibull fit = fit_weibull(lives, 1, 0.95).value();
  const double level = log_likelihood(lives, fit.shape, fit.scale) - 3.841458820694124 / 2;  // chi-square, 1, 95 %
  for (const double shape : {fit.shape_interval.low, fit.shape_interval.high})
    EXPECT_NEAR(best_over([&](double scale) { return log_likelihood(lives, shape, scale); }, 0.1, 100), level, 1e-5);
  EXPECT_LT(fit.shape_interval.low, fit.shape);
  EXPECT_GT(fit.shape_interval.high, fit.shape);
  EXPECT_NEAR(fit.failed_by_horizon, 1 - std::exp(-std::pow(1 / fit.scale, fit.shape)), 1e-12);
  for (const double share : {fit.by_horizon_interval.low, fit.by_horizon_interval.high}) {
    const double hazard = -std::log1p(-share);
    const double best =
        best_over([&](double shape) { return log_likelihood(lives, shape, std::pow(hazard, -1 / shape)); }, 0.05, 20);
    EXPECT_NEAR(best, level, 1e-5);
  }
  const double constant = best_over([&](double scale) { return log_likelihood(lives, 1, scale); }, 0.1, 100);
  const double ratio = 2 * (log_likelihood(lives, fit.shape, fit.scale) - constant);
  EXPECT_NEAR(fit.constant_rate_p, std::erfc(std::sqrt(ratio / 2)), 1e-5);
}

TEST(Weibull, UnitsAndCountsChangeNothing) {
  const std::vector<Life> lives = aircraft_components();
  const Weibull fit = fit_weibull(lives, 1, 0.95).value();
  std::vector<Life> scaled;
  for (const Life& life : lives)
    for (std::uint64_t i = 0; i < life.count; ++i) scaled.push_back({life.age * 1e9, life.limit * 1e9, life.failed, 1});
  const Weibull again = fit_weibull(scaled, 1e9, 0.95).value();
  EXPECT_NEAR(again.shape, fit.shape, 1e-9);
  EXPECT_NEAR(again.scale / 1e9, fit.scale, 1e-9);
  EXPECT_NEAR(again.by_horizon_interval.high, fit.by_horizon_interval.high, 1e-9);
}

/// Lives of a known distribution, observed for a time: by the standard library's generator.
std::vector<Life> sample(std::mt19937_64& random, unsigned count, double shape, double scale, double limit) {
  std::weibull_distribution<double> ages(shape, scale);
  std::vector<Life> lives;
  for (unsigned i = 0; i < count; ++i) {
    const double age = ages(random);
    lives.push_back(age < limit ? Life{age, limit, true, 1} : Life{limit, limit, false, 1});
  }
  return lives;
}

/// 400 samples of 300 parts of which some 35 fail: the true values are in 95 % of the intervals. Four standard
/// deviations of a count of 400 are 4.4 points.
TEST(Weibull, IntervalsCoverWhatTheyShould) {
  std::mt19937_64 random(7);
  for (const double shape : {0.76, 1.07}) {
    const double scale = 8 / std::pow(0.12, 1 / shape);
    int shapes = 0, shares = 0, constant = 0;
    for (int i = 0; i < 400; ++i) {
      const Weibull fit = fit_weibull(sample(random, 300, shape, scale, 8), 1, 0.95).value();
      shapes += fit.shape_interval.holds(shape) ? 1 : 0;
      shares += fit.by_horizon_interval.holds(1 - std::exp(-std::pow(1 / scale, shape))) ? 1 : 0;
      constant += fit.constant_rate_p > 0.05 ? 1 : 0;
    }
    EXPECT_NEAR(shapes, 380, 18) << shape;
    EXPECT_NEAR(shares, 380, 18) << shape;
    EXPECT_EQ(constant > 320, shape > 1) << constant << " of 400 do not refuse a constant rate at " << shape;
  }
}

TEST(Weibull, GoodnessOfFitKnowsABathtub) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto next = [&] { return uniform(random); };
  int small = 0;
  for (int i = 0; i < 60; ++i) small += weibull_fit_p(sample(random, 400, 1.07, 40, 6), 99, next).value() <= 0.1;
  EXPECT_LE(small, 14) << "of 60 true samples 6 are expected";
  // some fail early, some at any time, and some late: the shape is near 1 all the same
  std::vector<Life> bathtub;
  for (int i = 0; i < 40; ++i) {
    if (i % 4 == 0) bathtub.push_back({0.1 + 0.01 * i, 6, true, 1});
    bathtub.push_back({0.1 + 0.14 * i, 6, true, 1});
    bathtub.push_back({5.2 + 0.019 * i, 6, true, 1});
  }
  bathtub.push_back({6, 6, false, 4'000'000});
  EXPECT_NEAR(fit_weibull(bathtub, 1, 0.95).value().shape, 1, 0.2);
  EXPECT_LE(weibull_fit_p(bathtub, 99, next).value(), 0.02);
}

TEST(Weibull, WhatHasNoFitIsSaid) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const std::vector<Life>& lives, double horizon = 1, double confidence = 0.95) {
    return fit_weibull(lives, horizon, confidence).status().code() == Code::bad_input;
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused(failed_at({1})));
  EXPECT_TRUE(refused(failed_at({2, 2, 2}))) << "the likelihood has no greatest value";
  EXPECT_TRUE(refused({{5, 5, false, 10}}));
  EXPECT_TRUE(refused(failed_at({1, nan})));
  EXPECT_TRUE(refused(failed_at({1, 0})));
  EXPECT_TRUE(refused(failed_at({1, -2})));
  EXPECT_TRUE(refused({{2, 1, true, 1}, {1, 1, true, 1}})) << "failed after nobody looked";
  EXPECT_TRUE(refused(failed_at({1, 2}), 0));
  EXPECT_TRUE(refused(failed_at({1, 2}), 1, 1));
  EXPECT_FALSE(refused(failed_at({1, 2})));
  EXPECT_EQ(weibull_fit_p(failed_at({1}), 9, [] { return 0.5; }).status().code(), Code::bad_input);
  EXPECT_EQ(weibull_fit_p(failed_at({1, 2}), 0, [] { return 0.5; }).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::stats
