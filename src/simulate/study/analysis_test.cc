#include "simulate/study/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch/scratch_folder.h"

namespace holdfast::simulate::study {
namespace {

using testing::HasSubstr;
using testing::Not;

Series line_of(const std::string& engine, double intercept, double slope) {
  Series series;
  series.engine = engine;
  stats::Line line;
  line.intercept = intercept;
  line.slope = slope;
  series.line = line;
  series.samples = {{0, intercept}, {10, intercept + 10 * slope}};
  return series;
}

TEST(Crossings, FollowTheHighestLine) {
  // a leads to x = 2, b from there to x = 6, then c; d is never the best.
  const std::vector<Series> series = {line_of("a", 100, -10), line_of("b", 90, -5), line_of("c", 60, 0),
                                      line_of("d", 10, 1)};
  const auto found = crossings(series, 10);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].from, "a");
  EXPECT_EQ(found[0].to, "b");
  EXPECT_DOUBLE_EQ(found[0].failures, 2);
  EXPECT_DOUBLE_EQ(found[0].gbytes_per_s, 80);
  EXPECT_EQ(found[1].to, "c");
  EXPECT_DOUBLE_EQ(found[1].failures, 6);
  EXPECT_TRUE(crossings(series, 1.9).empty()) << "beyond what was measured";
  EXPECT_TRUE(crossings({}, 10).empty());
}

TEST(Advice, PrefersAnEngineThatAlwaysRoutes) {
  Panel panel;
  panel.most_failures = 10;
  panel.series = {line_of("fast", 100, 0), line_of("safe", 80, 0)};
  EXPECT_THAT(advise(panel).front(), HasSubstr("Take fast: 100.0 GB/s"));
  EXPECT_THAT(advise(panel)[1], HasSubstr("safe is 20.0 % behind"));
  panel.series[0].always_measured = false;
  ScenarioSummary failed;
  failed.label = "fail-link share 40%";
  failed.asked = 10;
  failed.measured = 7;
  failed.outcomes = {{"measured", 7}, {"refused", 3}};
  panel.series[0].scenarios = {failed};
  EXPECT_THAT(advise(panel).front(), HasSubstr("Take safe: 80.0 GB/s"));
  EXPECT_THAT(advise(panel).back(),
              HasSubstr("fast did not serve every run: 3 of 10 at 'fail-link share 40%' (refused)"));
  panel.series.clear();
  EXPECT_THAT(advise(panel).front(), HasSubstr("No engine"));
}

ScenarioSummary scenario_of(const std::string& label, double gbytes_per_s) {
  ScenarioSummary scenario;
  scenario.label = label;
  scenario.asked = scenario.measured = 1;
  scenario.gbytes_per_s = {gbytes_per_s, gbytes_per_s, gbytes_per_s, gbytes_per_s, gbytes_per_s};
  return scenario;
}

TEST(Advice, ALineThatDoesNotFitIsNotUsed) {
  // The first failure halves the throughput, more cost nothing: the line's value without failures was never measured.
  Panel panel;
  panel.most_failures = 30;
  Series steep;
  steep.engine = "steep";
  steep.samples = {{0, 224.9}, {10, 110}, {10, 120}, {20, 150}, {20, 140}, {30, 130}, {30, 150}};
  stats::Line line;
  line.intercept = 151.4;
  line.slope = -0.4;
  line.r2 = 0.2;
  steep.line = line;
  steep.scenarios = {scenario_of("none", 224.9), scenario_of("fail-link share 1%", 115),
                     scenario_of("fail-link share 2%", 145), scenario_of("fail-link share 3%", 140)};
  Series level = line_of("level", 150, 0);
  level.scenarios = {scenario_of("none", 150), scenario_of("fail-link share 1%", 150)};
  panel.series = {level, steep};
  panel.crossings = {};
  const auto words = advise(panel);
  EXPECT_THAT(words.front(), HasSubstr("Take steep: 156.2 GB/s on average over what was measured, 0 to 30 failures"));
  EXPECT_THAT(words.front(), HasSubstr("224.9 measured without failures"));
  EXPECT_THAT(words.front(), HasSubstr("no line fits them, R² 0.20"));
  EXPECT_THAT(words.front(), Not(HasSubstr("151.4")));
  EXPECT_THAT(words[1], HasSubstr("level is 4.0 % behind"));
  panel.series = {level};
  EXPECT_THAT(
      advise(panel).front(),
      HasSubstr("150.0 GB/s on average over 0 to 30 failures (150.0 measured without failures; line 150.0 +0.000"))
      << "nothing to explain is explained";
}

TEST(Advice, StaleRunsComeFirst) {
  Panel panel;
  panel.most_failures = 10;
  panel.series = {line_of("e", 100, 0)};
  panel.stale = {{"f.net has other contents now", 3}};
  EXPECT_THAT(advise(panel).front(), HasSubstr("Stale: 3 of the runs behind this: f.net has other contents now"));
}

/// A study whose results are made up, so that the statistics can be known beforehand.
class MadeUp final : public Study {
 public:
  MadeUp() {
    name = "made up";
    kind = "throughput";
    for (int failed = 0; failed <= 4; ++failed)
      for (int seed = 1; seed <= 3; ++seed) {
        const std::string label = failed == 0 ? "none" : "fail-link share " + std::to_string(failed) + "%";
        Json parameters = {{"fabric", "f"}, {"engine", "e"}, {"failures", label}, {"seed", seed}, {"traffic", "t"}};
        points.push_back({"g", parameters, parameters.dump()});
      }
  }
  /// 100 - 10 for each failure, and -1, 0, +1 by seed; the last point is refused.
  Result<Finished> run(std::size_t index) const override {
    const double failed = static_cast<double>(index / 3), seed = static_cast<double>(index % 3);
    if (index == 14) return Finished{"refused", {{"failed_links", 4}, {"reason", "because"}}, 0.5};
    return Finished{
        "measured", {{"failed_links", failed}, {"throughput_bytes_per_s", (100 - 10 * failed + seed - 1) * 1e9}}, 0.5};
  }
};

TEST(Analysis, KnownAnswers) {
  const MadeUp study;
  const scratch::ScratchFolder folder;
  auto database = Database::open_to_write(folder.file("analysis.sqlite"), study);
  ASSERT_TRUE(database.ok()) << database.status().message();
  for (std::size_t i = 0; i < study.points.size(); ++i)
    ASSERT_TRUE(database.value().add(study.points[i], study.run(i).value()).ok());
  const StudyRecord record = analyse(database.value()).value();
  EXPECT_EQ(record.points, 15U);
  EXPECT_EQ(record.finished, 15U);
  EXPECT_DOUBLE_EQ(record.cpu_s, 7.5);
  EXPECT_EQ(record.outcomes.at("refused"), 1U);
  ASSERT_EQ(record.panels.size(), 1U);
  const Series& series = record.panels[0].series.at(0);
  ASSERT_EQ(series.scenarios.size(), 5U);
  EXPECT_DOUBLE_EQ(series.scenarios[1].gbytes_per_s.least, 89);
  EXPECT_DOUBLE_EQ(series.scenarios[1].gbytes_per_s.lower, 89.5);
  EXPECT_DOUBLE_EQ(series.scenarios[1].gbytes_per_s.median, 90);
  EXPECT_DOUBLE_EQ(series.scenarios[1].gbytes_per_s.greatest, 91);
  EXPECT_NEAR(*series.scenarios[1].change, -0.1, 1e-12);
  EXPECT_EQ(series.scenarios[4].measured, 2U);
  EXPECT_EQ(series.scenarios[4].reason, "because");
  EXPECT_FALSE(series.always_measured);
  ASSERT_TRUE(series.line);
  EXPECT_NEAR(series.line->intercept, 100, 0.3);
  EXPECT_NEAR(series.line->slope, -10, 0.2);
  EXPECT_GT(series.line->r2, 0.99);
  EXPECT_DOUBLE_EQ(record.panels[0].most_failures, 4);
}

/// Two runs that differ in the simulator's options alone.
class TwoOptions final : public Study {
 public:
  TwoOptions() {
    name = "two options";
    kind = "throughput";
    for (const char* mtu : {"1024", "2048"}) {
      const Json parameters = {{"fabric", "f"},
                               {"engine", "e"},
                               {"failures", "none"},
                               {"traffic", "t"},
                               {"options", {{"simulate.mtu", mtu}, {"simulate.hiccup", "0"}}}};
      points.push_back({"g", parameters, parameters.dump()});
    }
  }
  Result<Finished> run(std::size_t) const override {
    return Finished{"measured", {{"failed_links", 0}, {"throughput_bytes_per_s", 1e9}}, 0};
  }
};

TEST(Analysis, OptionsOfTheSimulatorAreComparedWithinThemselves) {
  const TwoOptions study;
  const scratch::ScratchFolder folder;
  auto database = Database::open_to_write(folder.file("options.sqlite"), study);
  for (std::size_t i = 0; i < study.points.size(); ++i)
    ASSERT_TRUE(database.value().add(study.points[i], study.run(i).value()).ok());
  const StudyRecord record = analyse(database.value()).value();
  ASSERT_EQ(record.panels.size(), 2U);
  EXPECT_EQ(record.panels[0].options, "mtu 1024, hiccup 0");
  EXPECT_EQ(record.panels[1].options, "mtu 2048, hiccup 0");
}

}  // namespace
}  // namespace holdfast::simulate::study
