#include "simulate/collective/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fabric/topology/generate.h"

namespace holdfast::simulate::collective {
namespace {

constexpr const char* small_study = R"toml([study]
name = "small"
fabric = "xgft(3;4,4,2;1,4,2)"
collectives = 40
seed = 9
[assumptions.slow]
switch_delay = "200ns"
[[group]]
name = "first"
assumptions = ["default", "slow"]
protection = ["temporal", "link-retry"]
copies = [2, 4]
source = ["none", "link"]
mean = ["1us", "10us"]
)toml";

TEST(Study, PointsAreTheProductWhereAChoiceHasAMeaning) {
  const Study study = read_study(small_study, "small.toml").value();
  // two sets x (no errors: 1, links: two means) x (temporal: two numbers of copies, link-retry: one)
  EXPECT_EQ(study.points.size(), 2U * (1 + 2) * (2 + 1));
  EXPECT_EQ(study.points.front().plan.seed, 9U);
  EXPECT_EQ(study.points.back().assumptions, "slow");
  EXPECT_EQ(study.points.back().plan.experiment.assumptions.switch_delay_ps, 200 * ps_per_ns);
}

TEST(Study, MistakesAreSaidWithTheirLine) {
  const std::pair<std::string, std::string> wrong[] = {
      {"[study\n", "line 1"},
      {"[study]\nname = \"x\"\n", "names no fabric"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n", "no points"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\ncolectives = 3\n[[group]]\n", "line 3"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\nprotection = [\"temporel\"]\n", "did you mean 'temporal'?"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\ncopies = [99]\n", "line 4"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\nmean = [\"5\"]\n", "'mean'"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\nassumptions = [\"m9\"]\n", "no set of assumptions 'm9'"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\nsource = \"link\"\n", "between errors"},
      {"[study]\nfabric = 7\n[[group]]\n", "is no text"},
      {"study = 3\n", "no table"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[assumptions.slow]\nadapter_delay = \"106d\"\n[[group]]\n"
       "assumptions = [\"slow\"]\n",
       "simulated clock's 106 days"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[assumptions.slow]\ntimeout_exponent = 31\nretry_limit = 1000\n[[group]]\n"
       "assumptions = [\"slow\"]\n",
       "lower the delays, timeout_exponent or retry_limit"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\nfails = \"lnik\"\n", "did you mean 'link'?"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\ntogether = 0\n", "line 4"},
      {"[study]\nfabric = \"xgft(1;4;1)\"\n[[group]]\nrebuild = 5\n", "line 4"},
      {"group = 3\n[study]\nfabric = \"xgft(1;4;1)\"\n", "no points"},
  };
  for (const auto& [text, part] : wrong) {
    const auto study = read_study(text, "x.toml");
    ASSERT_FALSE(study.ok()) << text;
    EXPECT_EQ(study.status().code(), Code::bad_input);
    EXPECT_THAT(study.status().message(), testing::HasSubstr(part)) << text;
  }
  EXPECT_EQ(read_study_file("/does/not/exist").status().code(), Code::not_found);
}

TEST(Study, FailuresSequencesAndSeveralAtOnce) {
  const std::string text =
      "[study]\nname = \"x\"\nfabric = \"xgft(3;4,4,2;1,4,2)\"\ncollectives = 3\n[[group]]\nfails = [\"link\", "
      "\"switch\"]\n"
      "rebuild = \"5us\"\nprotection = [\"temporal\", \"spatial\"]\n[[group]]\ntogether = [1, 4]\nconsecutive = true\n";
  const Study study = read_study(text, "x.toml").value();
  ASSERT_EQ(study.points.size(), 4U + 2);
  const auto failing = parameters_json(study.points[2]), plain = parameters_json(study.points[4]);
  EXPECT_EQ(failing["fails"], "switch");
  EXPECT_EQ(failing["rebuild_ns"], 5000);
  EXPECT_FALSE(failing.contains("consecutive"));
  EXPECT_EQ(plain["consecutive"], true);
  EXPECT_FALSE(plain.contains("together")) << "points of before there was a choice keep their identity";
  EXPECT_EQ(parameters_json(study.points[5])["together"], 4);
  const auto rows = run_study(study, 1, [](std::size_t) {}).value();
  EXPECT_EQ(sample_json(rows[0].sample)["exposed"], 10);
  EXPECT_FALSE(sample_json(rows[4].sample).contains("exposed"));
}

TEST(Study, TheRepositorysStudyIsReadable) {
  const auto study = read_study_file(HOLDFAST_SOURCE_DIR "/studies/fabric-collectives.toml");
  ASSERT_TRUE(study.ok()) << study.status().message();
  EXPECT_GT(study.value().points.size(), 100U);
}

TEST(Study, RowsDoNotDependOnThreads) {
  const Study study = read_study(small_study, "small.toml").value();
  std::size_t calls = 0;
  const auto one = run_study(study, 1, [&](std::size_t) { ++calls; }).value();
  const auto two = run_study(study, 2, [](std::size_t) {}).value();
  EXPECT_EQ(calls, study.points.size());
  EXPECT_EQ(study_csv(one), study_csv(two));
  const auto record = study_record(study, one);
  EXPECT_EQ(record["rows"].size(), study.points.size());
  EXPECT_EQ(record["record"], "holdfast.collective-study");
  for (const auto& row : record["rows"]) EXPECT_EQ(row["wrong"], 0);
}

TEST(Sampling, ErrorsOfALinkComeAsOftenAsTheirMeanSays) {
  const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  const Tree tree = embed(fabric, nullptr, all_adapters(fabric), {Protection::temporal, 2}).value();
  ErrorProcess process;
  process.source = ErrorSource::link;
  process.mean_ps = 10 * ps_per_us;
  ErrorDraw draw(process, tree, fabric);
  const Time horizon = 100 * ps_per_us;
  std::uint64_t strikes = 0;
  const random::Stream root(3);
  for (std::uint64_t i = 0; i < 200; ++i) {
    draw.begin(root.child(i));
    const std::size_t early = draw.until(horizon / 3).strikes.size();
    const std::vector<Strike> all = draw.until(horizon).strikes;
    EXPECT_LE(early, all.size());
    strikes += all.size();
    draw.begin(root.child(i));
    EXPECT_EQ(draw.until(horizon).strikes.size(), all.size());  // the horizon may move on, the draw stays
  }
  const double expected = 200.0 * 10 * static_cast<double>(tree.wires.size());
  EXPECT_NEAR(static_cast<double>(strikes), expected, 5 * std::sqrt(expected));
}

// Most of what is drawn from such a mean does not fit into 63 bits: it wrapped, and struck before the start.
TEST(Sampling, ErrorsBeyondTheClockDoNotStrike) {
  const fabric::Fabric fabric = fabric::generate("xgft(1;4;1)").value();
  const Tree tree = embed(fabric, nullptr, all_adapters(fabric), {Protection::temporal, 2}).value();
  ErrorProcess process;
  process.source = ErrorSource::network;
  process.mean_ps = never - 1;
  ErrorDraw draw(process, tree, fabric);
  const random::Stream root(3);
  for (std::uint64_t i = 0; i < 200; ++i) {
    draw.begin(root.child(i));
    EXPECT_TRUE(draw.until(ps_per_s).strikes.empty());
  }
}

// One link whose packets meet an error with a known probability: the mean time follows from the geometric series.
TEST(Sampling, MeanOfRepetitionsIsTheGeometricOne) {
  const fabric::Fabric fabric = fabric::generate("xgft(1;1;1)").value();
  SamplePlan plan;
  plan.experiment.scheme = {Protection::retransmission, 1};
  plan.errors.source = ErrorSource::link;
  plan.errors.mean_ps = ps_per_us;
  plan.experiment.assumptions.nak_bytes = 1;  // so short that acknowledgements are hit once in a thousand
  plan.collectives = 20000;
  const Sample sample = collective::sample(fabric, nullptr, plan).value();
  const double hit = 1 - std::exp(-0.256);
  const double repetition_ns = 1 + 500 + 256;
  const double expected_ns = 100 + 256 + 100 + hit / (1 - hit) * repetition_ns;
  EXPECT_NEAR(sample.root.mean_ns, expected_ns, 0.03 * expected_ns);
  EXPECT_EQ(sample.wrong, 0U);
}

TEST(Sampling, AdaptiveReplicationSendsOneCopyWhileNothingHappens) {
  const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  SamplePlan plan;
  plan.experiment.scheme = {Protection::temporal, 4};
  plan.adaptive_calm = 3;
  plan.collectives = 200;
  EXPECT_EQ(collective::sample(fabric, nullptr, plan).value().mean_copies, 1);
  plan.errors.source = ErrorSource::link;
  plan.errors.mean_ps = 100 * ps_per_us;
  const double some = collective::sample(fabric, nullptr, plan).value().mean_copies;
  EXPECT_GT(some, 1.5);
  EXPECT_LT(some, 4);
}

}  // namespace
}  // namespace holdfast::simulate::collective
