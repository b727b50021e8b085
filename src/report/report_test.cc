#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/bar_plot.h"
#include "report/markup.h"
#include "report/plot.h"
#include "report/study_report.h"

namespace holdfast::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace simulate::study;

TEST(Markup, TablesInThreeForms) {
  const Table table{"T", {"name", "x"}, {{"a,\"b\"", "1.5"}, {"µ", "-20"}}};
  EXPECT_EQ(table_csv(table), "name,x\n\"a,\"\"b\"\"\",1.5\nµ,-20\n");
  EXPECT_EQ(table_text(table), "T\n  name   x\n  a,\"b\"  1.5\n  µ      -20\n");
  EXPECT_THAT(table_html(table), HasSubstr("<td>a,&quot;b&quot;</td><td class=\"number\">1.5</td>"));
}

/// Names of categories are shown whole, in lines that fit between the edge and the bars, each below the one before.
TEST(BarPlot, LongNamesTakeSeveralLines) {
  const std::string name =
      "fail-link share 20%; fail-switch s-1-0 time 20us for 1ms, random, 2 replicas, over the transport";
  const std::string drawn = svg(BarPlot{"T", "s", {"updn"}, {{name, {{0, 1.0, {}, {}, "1 s"}}}, {"\u00b5", {}}}});
  std::string shown;
  double last = 0;
  for (std::size_t at = drawn.find("text-anchor=\"end\""); at != std::string::npos;
       at = drawn.find("text-anchor=\"end\"", at + 1)) {
    const std::size_t begin = drawn.find('>', at) + 1;
    const std::string line = drawn.substr(begin, drawn.find('<', begin) - begin);
    EXPECT_LE(line.size(), 36U) << line;
    const double y = std::stod(drawn.substr(drawn.rfind("y=\"", at) + 3));
    EXPECT_GE(y, last + 14);
    last = y;
    shown += (shown.empty() ? "" : " ") + line;
  }
  EXPECT_EQ(shown, name + " \u00b5");
  EXPECT_LT(last, std::stod(drawn.substr(drawn.find("height=\"") + 8)));
}

TEST(Axis, HoldsItsValuesWithRoundTicks) {
  const Axis axis = make_axis({3, 97, NAN});
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.high, 100);
  EXPECT_GE(axis.ticks.size(), 4U);
  EXPECT_LE(axis.ticks.size(), 9U);
  EXPECT_DOUBLE_EQ(axis.place(50), 0.5);
  const Axis narrow = make_axis({950, 1000});
  EXPECT_GT(narrow.low, 0);
  EXPECT_LE(narrow.low, 950);
  for (const std::vector<double>& odd : {std::vector<double>{}, {0}, {5}, {-3}, {-3, 4}}) {
    const Axis made = make_axis(odd);
    EXPECT_LT(made.low, made.high);
    for (const double value : odd) EXPECT_TRUE(made.low <= value && value <= made.high);
  }
  const Axis logarithmic = make_axis({20, 5000, -1, 0}, true);
  EXPECT_DOUBLE_EQ(logarithmic.low, 10);
  EXPECT_DOUBLE_EQ(logarithmic.high, 10000);
  EXPECT_NEAR(logarithmic.place(100), 1.0 / 3, 1e-9);
  EXPECT_EQ(tick_text(1e-17), "0");
}

StudyRecord sample_record() {
  StudyRecord record;
  record.name = "a <study>";
  record.kind = "throughput";
  record.points = 4;
  record.finished = 4;
  Panel panel{"g", "f", "t", "", {}, {{"a", "b", 2, 5}}, {"Take a & b."}, 3};
  Series series;
  series.engine = "a";
  series.samples = {{0, 10}, {3, 4}};
  series.line = stats::Line{10, -2, 1, 0, 0, 2};
  ScenarioSummary healthy;
  healthy.label = "none";
  healthy.measured = healthy.asked = 1;
  healthy.gbytes_per_s = {10, 10, 10, 10, 10};
  healthy.change = 0;
  ScenarioSummary damaged = healthy;
  damaged.label = "fail-link share 5%";
  damaged.asked = 3;
  damaged.gbytes_per_s = {2, 3, 4, 5, 6};
  damaged.change = -0.6;
  damaged.outcomes = {{"measured", 1}, {"refused", 2}};
  series.scenarios = {healthy, damaged};
  panel.series = {series};
  record.panels = {panel};
  return record;
}

TEST(StudyReport, SaysTheSameInAllForms) {
  const StudyRecord record = sample_record();
  const std::string text = study_text(record);
  EXPECT_THAT(text, testing::ContainsRegex("a +2 +10.00 +-2.000"));
  EXPECT_THAT(text, HasSubstr("2 refused"));
  EXPECT_THAT(text, HasSubstr("-60.0 %"));
  const std::string csv = study_csv(record);
  EXPECT_THAT(csv, HasSubstr("g,f,t,,a,fail-link share 5%,,0.00,3,1,2.000000,3.000000,4.000000,5.000000,6.000000,"
                             "10.000000,-2.000000,1.000000\n"));
  const auto json = study_json(record);
  EXPECT_EQ(json["panels"][0]["engines"][0]["line"]["slope_gbytes_per_s"], -2);
  EXPECT_EQ(json["panels"][0]["crossings"][0]["failures"], 2);
  const std::string html = study_html(record);
  EXPECT_THAT(html, HasSubstr("<h1>a &lt;study&gt;</h1>"));
  EXPECT_THAT(html, HasSubstr("<li>Take a &amp; b.</li>"));
  // nothing from outside: no address but the name of SVG itself, no script, no link to a sheet or an image
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  for (std::size_t at = html.find("http"); at != std::string::npos; at = html.find("http", at + 1))
    EXPECT_EQ(html.substr(at, 26), "http://www.w3.org/2000/svg");
}

TEST(StudyReport, PlotsHaveAMarkARunAndABoxAScenario) {
  const auto plots = study_plots(sample_record());
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[0].first, "g-f-t-lines");
  std::size_t circles = 0;
  for (std::size_t at = plots[0].second.find("<circle"); at != std::string::npos;
       at = plots[0].second.find("<circle", at + 1))
    ++circles;
  EXPECT_EQ(circles, 2U + 1U) << "two runs and one in the legend";
  EXPECT_THAT(plots[0].second, HasSubstr("stroke-dasharray")) << "the regression";
  EXPECT_THAT(plots[1].second, HasSubstr("a, 5%: 1 runs, least 2, quartiles 3 4 5, greatest 6"));
  for (const auto& [name, svg] : plots) EXPECT_THAT(svg, Not(HasSubstr("nan"))) << name;
}

TEST(StudyReport, CollectivesFindTheirAxis) {
  StudyRecord record;
  record.name = "c";
  record.kind = "collectives";
  for (const double gap : {1000.0, 10000.0})
    for (const char* scheme : {"temporal x2", "spatial x2"}) {
      CollectiveRow row;
      row.group = "figure";
      for (const char* name : {"assumptions", "operation", "bytes", "case", "source", "mean_ns", "strikes", "reach",
                               "bit_error_rate", "seed"})
        row.parameters[name] = "v";
      row.parameters["mean_ns"] = std::to_string(gap);
      row.scheme = scheme;
      row.mean_gap_ns = gap;
      row.last_ns = 2000;
      row.last_low_ns = 1900;
      row.last_high_ns = 2100;
      record.collectives.push_back(row);
    }
  const auto plots = study_plots(record);
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_THAT(plots[0].second, HasSubstr("mean time between errors, ns"));
  EXPECT_THAT(plots[0].second, HasSubstr("spatial x2"));
  EXPECT_THAT(study_csv(record), HasSubstr("figure,v,v,v,temporal x2"));
}

}  // namespace
}  // namespace holdfast::report
