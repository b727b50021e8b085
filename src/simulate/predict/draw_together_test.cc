#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/scratch/scratch_folder.h"
#include "simulate/predict/prediction.h"

namespace holdfast::simulate::predict {
namespace {

using study::Finished;
using study::Json;
using testing::HasSubstr;

/// Times are made up: 10 s, 20 and 30 by seed, a tenth more with a failure, half as much again with engine "slow";
/// "weak" refuses its last run; without half of the adapters no run ends.
class MadeUpPrediction final : public study::Study {
 public:
  MadeUpPrediction() {
    name = "job.trace";
    kind = "prediction";
    text = Json({{"ranks", 4},
                 {"recorded_ns", 5'000'000'000},
                 {"rules", "mpich"},
                 {"fabric", "f"},
                 {"assumed", {"mpi.eager_limit 12288"}},
                 {"notes", Json::array()}})
               .dump();
    for (int seed = 1; seed <= 3; ++seed)
      for (const char* failures : {"none", "fail-link share 1%", "fail-hca share 50%"})
        for (const char* engine : {"fast", "slow", "weak"}) {
          Json parameters = {{"engine", engine}, {"placement", "random"}, {"failures", failures}, {"seed", seed}};
          points.push_back({name, parameters, parameters.dump()});
        }
  }
  Result<Finished> run(std::size_t index) const override {
    const Json& parameters = points[index].parameters;
    if (parameters["failures"] == "fail-hca share 50%") return Finished{"lost messages", Json::object(), 0};
    if (index == 23) return Finished{"refused", {{"reason", "because"}}, 0};
    const bool failed = parameters["failures"] != "none";
    double time = 10.0 * parameters["seed"].get<double>() * (failed ? 1.1 : 1);
    if (parameters["engine"] == "slow") time *= 1.5;
    return Finished{"measured",
                    {{"failed_links", failed ? 2 : 0},
                     {"time_ps", time * 1e12},
                     {"computing_share", 0.5},
                     {"waiting_share", 0.25},
                     {"busy", {{3, 0.5}, {7, 0.25}, {"x", 1}, {-1, 1}}},
                     {"down", failed ? Json{2, -3, "x"} : Json::array()},
                     {"links", {{{"name", "a to b"}, {"bytes", 100}, {"share", 0.5}}}}},
                    0};
  }
};

PredictionRecord drawn(const study::Study& study, bool backwards = false) {
  const scratch::ScratchFolder folder;
  auto database = study::Database::open_to_write(folder.file("prediction.sqlite"), study);
  EXPECT_TRUE(database.ok()) << database.status().message();
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const std::size_t index = backwards ? study.points.size() - 1 - i : i;
    EXPECT_TRUE(database.value().add(study.points[index], study.run(index).value()).ok());
  }
  auto records = draw_together(study, database.value());
  EXPECT_TRUE(records.ok());
  EXPECT_EQ(records.value().size(), 1U);
  return records.value().front();
}

TEST(DrawTogether, KnownAnswers) {
  const PredictionRecord record = drawn(MadeUpPrediction());
  EXPECT_EQ(record.ranks, 4u);
  EXPECT_DOUBLE_EQ(record.recorded_s, 5);
  EXPECT_EQ(record.points, 27u);
  EXPECT_EQ(record.finished, 27u);
  ASSERT_EQ(record.outlooks.size(), 9u);
  const Outlook& healthy = record.outlooks[0];
  EXPECT_TRUE(healthy.healthy);
  EXPECT_DOUBLE_EQ(healthy.time_s.mean, 20);
  ASSERT_TRUE(healthy.time_s.low.has_value());
  // Student's t with 2 degrees of freedom, 0.975: 4.3027; the standard error is 10 / sqrt(3).
  EXPECT_NEAR(20 - *healthy.time_s.low, 4.3027 * 10 / std::sqrt(3.0), 1e-3);
  EXPECT_EQ(record.shown.size(), 2U);
  EXPECT_EQ(record.shown.front(), 0U);
  const Outlook& slowest = record.outlooks[record.shown.back()];
  EXPECT_FALSE(slowest.healthy);
  for (const Outlook& outlook : record.outlooks)
    if (!outlook.healthy && outlook.measured > 0) {
      EXPECT_LE(outlook.time_s.mean, slowest.time_s.mean);
    }
  ASSERT_TRUE(slowest.load.has_value());
  EXPECT_EQ(slowest.load->busy, (std::map<std::uint32_t, double>{{3, 0.5}, {7, 0.25}}));
  EXPECT_EQ(slowest.load->down, (std::vector<std::uint32_t>{2}));
  const Outlook& failed = record.outlooks[3];
  EXPECT_EQ(failed.engine, "fast");
  EXPECT_DOUBLE_EQ(failed.failed, 2);
  ASSERT_TRUE(failed.ratio.has_value());
  EXPECT_NEAR(failed.ratio->mean, 1.1, 1e-9);
  EXPECT_NEAR(*failed.ratio->high, 1.1, 1e-9) << "seed by seed there is no spread";
  ASSERT_EQ(failed.links.size(), 1u);
  EXPECT_DOUBLE_EQ(failed.links[0].bytes, 100);
  EXPECT_EQ(failed.links[0].runs, 3u);
  const Outlook& weak = record.outlooks[5];
  EXPECT_EQ(weak.measured, 2u);
  EXPECT_EQ(weak.outcomes.at("refused"), 1u);
  EXPECT_EQ(weak.reason, "because");
}

TEST(DrawTogether, AdvisesAnEngineWithWhichEveryRunEnded) {
  const PredictionRecord record = drawn(MadeUpPrediction());
  ASSERT_EQ(record.advice.size(), 4u);
  EXPECT_EQ(record.advice[0], "Take fast: over all scenarios the job takes 50.0 % longer with the next, slow.");
  EXPECT_THAT(record.advice[1], HasSubstr("weak: in 1 of 6 runs the job did not end ('refused'"));
  EXPECT_EQ(record.advice[2], "No engine helps with fail-hca share 50%, random: lost messages.");
  EXPECT_THAT(record.advice[3], HasSubstr("1.100 times as long"));
}

TEST(DrawTogether, TheOrderInWhichRunsEndedDoesNotMatter) {
  const PredictionRecord one = drawn(MadeUpPrediction()), other = drawn(MadeUpPrediction(), true);
  ASSERT_EQ(one.outlooks.size(), other.outlooks.size());
  for (std::size_t i = 0; i < one.outlooks.size(); ++i) {
    EXPECT_EQ(one.outlooks[i].engine, other.outlooks[i].engine);
    EXPECT_EQ(one.outlooks[i].time_s.mean, other.outlooks[i].time_s.mean);
    EXPECT_EQ(one.outlooks[i].time_s.high, other.outlooks[i].time_s.high);
  }
  EXPECT_EQ(one.advice, other.advice);
}

/// 10 s, 20 and 30 by seed; two replicas take a tenth more and are ended by a flip with seed 3, three take a fifth more
/// and correct it.
class MadeUpReplicas final : public study::Study {
 public:
  MadeUpReplicas() {
    name = "job.trace";
    kind = "prediction";
    text = Json({{"ranks", 4}, {"fabric", "f"}}).dump();
    for (int seed = 1; seed <= 3; ++seed)
      for (const int replicas : {1, 2, 3}) {
        Json parameters = {{"engine", "fast"}, {"placement", "random"}, {"failures", "none"}, {"seed", seed}};
        if (replicas > 1) parameters["replicas"] = replicas;
        points.push_back({name, parameters, parameters.dump()});
      }
  }
  Result<Finished> run(std::size_t index) const override {
    const int replicas = static_cast<int>(index % 3) + 1;
    const double seed = points[index].parameters["seed"].get<double>();
    if (replicas == 2 && seed == 3) return Finished{"uncorrected", {{"reason", "two copies differ"}}, 0};
    Json result = {{"time_ps", 10 * seed * (1 + 0.1 * (replicas - 1)) * 1e12}};
    if (replicas > 1)
      result["replication"] = {{"verified", 30}, {"records", 60}, {"corrections", replicas == 3 && seed == 3 ? 1 : 0}};
    return Finished{"measured", std::move(result), 0};
  }
};

TEST(DrawTogether, ReplicasAgainstTheJobWithout) {
  const PredictionRecord record = drawn(MadeUpReplicas());
  ASSERT_EQ(record.outlooks.size(), 3u);
  EXPECT_EQ(record.outlooks[0].replicas, 1u);
  EXPECT_FALSE(record.outlooks[0].to_unprotected);
  EXPECT_FALSE(record.outlooks[0].replication);
  const Outlook &two = record.outlooks[1], &three = record.outlooks[2];
  EXPECT_EQ(two.measured, 2u);
  EXPECT_EQ(two.reason, "two copies differ");
  ASSERT_TRUE(two.to_unprotected && three.to_unprotected && three.replication);
  EXPECT_NEAR(two.to_unprotected->mean, 1.1, 1e-9);
  EXPECT_NEAR(three.to_unprotected->mean, 1.2, 1e-9);
  EXPECT_NEAR(*three.to_unprotected->high, 1.2, 1e-9) << "seed by seed there is no spread";
  EXPECT_DOUBLE_EQ(three.replication->records, 60);
  EXPECT_NEAR(three.replication->corrections, 1.0 / 3, 1e-9);
  EXPECT_NEAR(two.ratio->mean, 1, 1e-9) << "to the healthy fabric, with as many replicas";
  EXPECT_THAT(record.advice,
              testing::Contains("2 replicas take 2 times the places, and the job 1.100 times as long as without; in 1 "
                                "of 3 runs flips ended it, which so many cannot correct."));
  EXPECT_THAT(record.advice,
              testing::Contains("3 replicas take 3 times the places, and the job 1.200 times as long as without; in 1 "
                                "of 3 runs flips were corrected."));
}

/// The job takes 10 s, half as long again after a failure; over the transport a tenth more, and nothing more after one.
/// With seed 2 plain connections break.
class MadeUpSenders final : public study::Study {
 public:
  MadeUpSenders() {
    name = "job.trace";
    kind = "prediction";
    text = Json({{"ranks", 4}, {"fabric", "f"}}).dump();
    for (int seed = 1; seed <= 2; ++seed)
      for (const char* failures : {"none", "fail-link time 1s"})
        for (const bool plain : {true, false}) {
          Json parameters = {{"engine", "fast"}, {"placement", "random"}, {"failures", failures}, {"seed", seed}};
          if (!plain) parameters["sender"] = "transport";
          points.push_back({name, parameters, parameters.dump()});
        }
  }
  Result<Finished> run(std::size_t index) const override {
    const Json& parameters = points[index].parameters;
    const bool plain = !parameters.contains("sender"), failed = parameters["failures"] != "none";
    if (plain && failed && parameters["seed"] == 2) return Finished{"broken", Json::object(), 0};
    const double time = plain ? (failed ? 15 : 10) : 11;
    return Finished{"measured", {{"time_ps", time * 1e12}}, 0};
  }
};

TEST(DrawTogether, TheTransportAgainstPlainConnections) {
  const PredictionRecord record = drawn(MadeUpSenders());
  ASSERT_EQ(record.outlooks.size(), 4u);
  for (const Outlook& outlook : record.outlooks) {
    const bool plain = outlook.sender == "plain";
    EXPECT_EQ(outlook.sender == "transport", !plain);
    EXPECT_EQ(outlook.measured, plain && !outlook.healthy ? 1u : 2u);
    EXPECT_EQ(outlook.to_plain.has_value(), !plain);
    ASSERT_TRUE(outlook.ratio.has_value());
    EXPECT_NEAR(outlook.ratio->mean, plain && !outlook.healthy ? 1.5 : 1, 1e-9) << "to the same sender";
    if (!plain) {
      EXPECT_NEAR(outlook.to_plain->mean, outlook.healthy ? 1.1 : 11.0 / 15, 1e-9);
    }
  }
  EXPECT_THAT(record.advice,
              testing::Contains("Over the transport the job ended in 4 of 4 runs, and took 0.917 times as "
                                "long as over plain connections (0.733 to 1.100)."));
}

/// Collectives of switches take four fifths of the time.
class MadeUpCollectives final : public study::Study {
 public:
  MadeUpCollectives() {
    name = "job.trace";
    kind = "prediction";
    text = Json({{"ranks", 4}, {"fabric", "f"}}).dump();
    for (int seed = 1; seed <= 2; ++seed)
      for (const bool in_network : {false, true}) {
        Json parameters = {{"engine", "fast"}, {"placement", "random"}, {"failures", "none"}, {"seed", seed}};
        if (in_network) parameters["collectives"] = "in-network";
        points.push_back({name, parameters, parameters.dump()});
      }
  }
  Result<Finished> run(std::size_t index) const override {
    const double seed = points[index].parameters["seed"].get<double>();
    return Finished{"measured", {{"time_ps", 10 * seed * (index % 2 == 1 ? 0.8 : 1) * 1e12}}, 0};
  }
};

TEST(DrawTogether, CollectivesOfSwitchesAgainstThoseOfMessages) {
  const PredictionRecord record = drawn(MadeUpCollectives());
  ASSERT_EQ(record.outlooks.size(), 2u);
  EXPECT_EQ(record.outlooks[0].collectives, "mpi");
  EXPECT_FALSE(record.outlooks[0].to_mpi);
  EXPECT_EQ(record.outlooks[1].collectives, "in-network");
  ASSERT_TRUE(record.outlooks[1].to_mpi);
  EXPECT_NEAR(record.outlooks[1].to_mpi->mean, 0.8, 1e-9);
  EXPECT_THAT(record.advice, testing::Contains(HasSubstr("With collectives of switches the job ended in 2 of 2 runs, "
                                                         "and took 0.800 times as long as with those of messages")));
}

/// One study of two recordings, of which each has runs of its own.
class MadeUpStudy final : public study::Study {
 public:
  MadeUpStudy() {
    name = "study";
    kind = "prediction";
    Json parts = Json::array();
    for (const char* trace : {"one", "other"}) {
      parts.push_back(
          {{"group", "g"}, {"trace", trace}, {"fabric", "f"}, {"ranks", trace == std::string("one") ? 1 : 2}});
      Json parameters = {{"trace", trace}, {"fabric", "f"},        {"engine", "fast"},
                         {"seed", 1},      {"placement", "block"}, {"failures", "none"}};
      points.push_back({"g", parameters, parameters.dump()});
    }
    text = Json({{"file", ""}, {"parts", parts}}).dump();
  }
  Result<Finished> run(std::size_t index) const override {
    return Finished{"measured", {{"time_ps", static_cast<double>(index + 1) * 1e12}}, 0};
  }
};

TEST(DrawTogether, EachRecordingOnAFabricIsARecord) {
  const MadeUpStudy study;
  const scratch::ScratchFolder folder;
  auto database = study::Database::open_to_write(folder.file("study.sqlite"), study).value();
  for (std::size_t i = 0; i < study.points.size(); ++i)
    ASSERT_TRUE(database.add(study.points[i], study.run(i).value()).ok());
  const auto records = draw_together(*database.study().value(), database).value();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].trace, "one");
  EXPECT_EQ(records[0].group, "g");
  EXPECT_EQ(records[1].ranks, 2U);
  EXPECT_DOUBLE_EQ(records[0].outlooks.front().time_s.mean, 1);
  EXPECT_DOUBLE_EQ(records[1].outlooks.front().time_s.mean, 2);
}

}  // namespace
}  // namespace holdfast::simulate::predict
