#include "plan/fabric_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random/stream.h"
#include "core/stats/quantile.h"

namespace holdfast::plan {
namespace {

constexpr double year_s = 365 * 86400.0;
// Table VII, TSUBAME2.0
const std::vector<EngineLine> tsubame{{"DFSSSP", 1393.40, -1.33, 0.62, 300},
                                      {"Fat-Tree", 1187.19, -1.48, 0.66, 50},
                                      {"Up*/Down*", 717.76, -0.08, 0.01, NAN}};

TEST(FabricLife, OfTsubameByHand) {
  const FabricForecast life = forecast({20 / year_s, 6 * year_s, 0.9}, tsubame);
  ASSERT_EQ(life.engines.size(), 3u);
  const EngineForecast& best = life.engines[0];
  EXPECT_EQ(best.line.engine, "DFSSSP");
  EXPECT_NEAR(best.mean_throughput, 1393.40 - 1.33 * 60, 1e-9);
  EXPECT_NEAR(best.last_throughput, 1393.40 - 1.33 * 120, 1e-9);
  EXPECT_EQ(best.due_failures, 105);  // 139.34 / 1.33 = 104.8
  EXPECT_NEAR(best.due_mean_s / year_s, 5.25, 1e-9);
  EXPECT_FALSE(best.extrapolated);
  EXPECT_TRUE(life.engines[1].extrapolated);
  EXPECT_THAT(life.changes, testing::SizeIs(1));  // no line meets DFSSSP's within 120 failures
  EXPECT_EQ(life.changes[0].engine, "DFSSSP");
}

TEST(FabricLife, NamesTheEngineToChangeTo) {
  // DFSSSP and Up*/Down* meet at (1393.40 - 717.76) / (1.33 - 0.08) = 540.512
  const FabricForecast life = forecast({100 / year_s, 6 * year_s, 0.5}, tsubame);
  ASSERT_EQ(life.changes.size(), 2u);
  EXPECT_NEAR(life.changes[1].failures, 540.512, 1e-3);
  EXPECT_NEAR(life.changes[1].time_s / year_s, 5.40512, 1e-5);
  EXPECT_EQ(life.changes[1].engine, "Up*/Down*");
}

TEST(FabricLife, QuantilesAreThoseOfAPoissonProcess) {
  const FabricForecast life = forecast({20 / year_s, 6 * year_s, 0.98}, tsubame);
  ASSERT_EQ(life.engines[0].due_failures, 21);
  std::vector<double> times;
  random::Stream stream(2);
  for (int trial = 0; trial < 20000; ++trial) {
    double time = 0;
    for (int failure = 0; failure < 21; ++failure) time += stream.exponential(year_s / 20);
    times.push_back(time);
  }
  EXPECT_NEAR(life.engines[0].due_early_s / stats::quantile(times, 0.05).value(), 1, 0.01);
  EXPECT_NEAR(life.engines[0].due_late_s / stats::quantile(times, 0.95).value(), 1, 0.01);
}

TEST(FabricLife, KnowsFabricsThatNeedNoMaintenance) {
  const FabricForecast rising = forecast({20 / year_s, year_s, 0.9}, {{"Up*/Down*", 30.10, 0.06, 0.11, NAN}});
  EXPECT_TRUE(std::isinf(rising.engines[0].due_failures));
  EXPECT_TRUE(std::isinf(rising.engines[0].due_mean_s));
  const FabricForecast perfect = forecast({0, year_s, 0.9}, tsubame);
  EXPECT_TRUE(std::isinf(perfect.engines[0].due_mean_s));
  EXPECT_EQ(perfect.changes.size(), 1u);
}

TEST(FabricLife, ThroughputStopsAtNothing) {
  const FabricForecast life = forecast({100 / year_s, year_s, 0.9}, {{"steep", 50, -1, 1, 100}});
  EXPECT_EQ(life.engines[0].last_throughput, 0);
  EXPECT_DOUBLE_EQ(life.engines[0].mean_throughput, 12.5);  // a triangle over half of the life
}

TEST(RegressionFile, IsReadWithWhatMayBeAbsent) {
  const auto file = read_regression(R"({"record": "holdfast.regression", "version": 1, "title": "t", "source": "s",
    "unit": "GB/s", "failures": "links", "engines": [{"engine": "minhop", "intercept": 29.94, "slope": 0},
    {"engine": "dfsssp", "intercept": 93.4, "slope": -0.15, "r2": 0.09, "most_failures": 30}]})",
                                    "r.json");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file.value().engines.size(), 2u);
  EXPECT_TRUE(std::isnan(file.value().engines[0].r2));
  EXPECT_EQ(file.value().engines[1].most_failures, 30);
  EXPECT_EQ(file.value().engines[1].at(1000), 0);
}

TEST(RegressionFile, RefusesInOneLine) {
  const std::string head =
      R"({"record": "holdfast.regression", "version": 1, "title": "t", "source": "s", "unit": "GB/s", "failures": )";
  const std::string engine = R"({"engine": "a", "intercept": 1, "slope": 0})";
  for (const std::string& text :
       {std::string("{"), std::string("{}"), std::string(R"({"record": "holdfast.regression"})"),
        head + R"("ports", "engines": []})", head + R"("links"})", head + R"("links", "engines": []})",
        head + R"("links", "engines": [3]})", head + R"("links", "engines": [{"engine": "a\nb"}]})",
        head + R"("links", "engines": [{"engine": "a", "intercept": 0, "slope": 0}]})",
        head + R"("links", "engines": [{"engine": "a", "intercept": 1}]})",
        head + R"("links", "engines": [{"engine": "a", "intercept": 1, "slope": "0"}]})",
        head + R"("links", "engines": [)" + engine + "," + engine + "]}"}) {
    const auto file = read_regression(text, "r.json");
    EXPECT_EQ(file.status().code(), Code::bad_input) << text;
    EXPECT_THAT(file.status().message(), testing::Not(testing::HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace holdfast::plan
