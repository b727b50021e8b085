#include "replicate/launch/report/summary.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

using Json = nlohmann::ordered_json;

Evidence corrected_once() {
  Evidence evidence;
  evidence.ranks = 2;
  evidence.degree = 3;
  evidence.ended.seconds = 1.5;
  evidence.record = Json::parse(R"({"counters": {"messages": 48112, "bytes": 61200000,
    "mismatches": 1, "corrections": 1, "votes": 0}, "corrupted": [{"rank": 1, "replica": 2, "copies": 1}], "collectives": "native"})");
  return evidence;
}

TEST(SummaryLine, SaysWhatWasVerifiedAndCorrected) {
  EXPECT_EQ(summary_line(corrected_once()),
            "2 ranks x 3 replicas, 48,112 messages (61.2 MB) verified, 1 mismatch, 1 corrected (rank 1 replica 2)");
}

TEST(SummaryLine, NamesSuspectsAndShortensLongLists) {
  Evidence evidence = corrected_once();
  for (int rank = 2; rank < 8; ++rank) evidence.record["corrupted"].push_back({{"rank", rank}, {"replica", 0}});
  evidence.record["corrupted"][0]["copies"] = suspect_copies;
  EXPECT_EQ(summary_line(evidence),
            "2 ranks x 3 replicas, 48,112 messages (61.2 MB) verified, 1 mismatch, 1 corrected (rank 1 replica 2, "
            "rank 2 replica 0, rank 3 replica 0, rank 4 replica 0 and 3 more); suspect: rank 1 replica 2");
}

TEST(SummaryLine, CountsProcessesWhereRanksHaveDifferentNumbersOfReplicas) {
  Evidence evidence = corrected_once();
  evidence.degrees = {1, 3};
  evidence.record["counters"]["unverified"] = 5U;
  EXPECT_EQ(
      summary_line(evidence),
      "2 ranks in 4 processes (1 to 3 replicas of each), 48,112 messages (61.2 MB) verified, 1 mismatch, 1 corrected "
      "(rank 1 replica 2), 5 of ranks with one replica, unverified");
  EXPECT_EQ(final_record(evidence, {}, {})["degrees"], Json({1, 3}));
  EXPECT_FALSE(final_record(corrected_once(), {}, {}).contains("degrees"));
}

TEST(SummaryLine, SurvivesStrangeRecords) {
  Evidence evidence = corrected_once();
  for (const char* text : {"{}", R"({"counters": 3, "corrupted": {}})",
                           R"({"counters": {"mismatches": -1, "corrections": "x"}, "corrupted": [{"rank": "a"}]})"}) {
    evidence.record = Json::parse(text);
    EXPECT_TRUE(summary_line(evidence).starts_with("2 ranks x 3 replicas, 0 messages (0 bytes) verified, 0 mis"))
        << text;
  }
  evidence.record = nullptr;
  evidence.ranks = 1;
  evidence.degree = 1;
  EXPECT_EQ(summary_line(evidence), "1 rank x 1 replica, unprotected");
  evidence.degree = 2;
  EXPECT_EQ(summary_line(evidence), "1 rank x 2 replicas, no record of what was verified");
}

TEST(SummaryLine, ADeathIsNoCleanRecord) {
  Evidence evidence = corrected_once();
  evidence.record = Json::parse(R"({"counters": {"messages": 4, "mismatches": 0}})");
  evidence.deaths = {{1, 2, 1.5, 2}};
  EXPECT_EQ(
      summary_line(evidence),
      "2 ranks x 3 replicas, 4 messages (0 bytes) verified, no mismatch known of those that are left, 0 corrected; "
      "rank 1 replica 2 died");
  evidence.corruption = {{100, 0, 0, 2}};
  evidence.faults = {"flip rank 0"};
  EXPECT_TRUE(summary_line(evidence).ends_with("died after the injected 'flip rank 0' had struck rank 0 replica 2"));
}

TEST(MissedLine, NamesTheFaultsThatNeverStruck) {
  Evidence evidence = corrected_once();
  EXPECT_EQ(missed_line(evidence), "");
  evidence.faults = {"flip rank 0", "flip rank 1"};
  evidence.corruption = {{100, 1, 1, 2}, {50, -1, 0, 0}};
  EXPECT_EQ(missed_line(evidence), "1 of 2 injected faults never struck: flip rank 0");
  EXPECT_EQ(final_record(evidence, {}, {})["faults_that_never_struck"], Json({"flip rank 0"}));
  evidence.corruption.push_back({200, 0, 0, 0});
  EXPECT_EQ(missed_line(evidence), "");
}

TEST(FinalRecord, NamesTheProcessesThatWereStruckOnceEach) {
  Evidence evidence = corrected_once();
  EXPECT_EQ(final_record(evidence, {}, {})["processes_struck"], Json::array());
  evidence.faults = {"rate 1/9", "flip rank 1"};
  evidence.corruption = {{100, 0, 1, 2}, {120, 1, 1, 2}, {50, -1, 0, 1}, {90, 0, 0, 2}};
  EXPECT_EQ(final_record(evidence, {}, {})["processes_struck"],
            Json::parse(R"([{"rank": 0, "replica": 2}, {"rank": 1, "replica": 2}])"));
}

TEST(DeathNotice, SaysWhatADeathMeans) {
  EXPECT_EQ(death_notice(3, true, ""), "if a process dies, its replica is taken out, and the other 2 go on");
  EXPECT_EQ(death_notice(2, true, ""), "if a process dies, its replica is taken out, and the other goes on");
  EXPECT_EQ(death_notice(3, false, "srun"), "if a process dies, the job ends (srun)");
}

TEST(FinalRecord, HoldsEverything) {
  Evidence evidence = corrected_once();
  Incident incident;
  incident.whole = {{"kind", "silent"}};
  evidence.incidents.push_back(incident);
  Json record = final_record(evidence, {4, "went silent"}, {"msg-plus-hash", "openmpi", "/bin/app"});
  EXPECT_EQ(record["record"], "holdfast.run");
  EXPECT_EQ(record["ranks"], 2);
  EXPECT_EQ(record["program"], "/bin/app");
  EXPECT_EQ(record["exit"]["code"], 4);
  EXPECT_EQ(record["exit"]["meaning"], "replicas diverged, or one went silent or died");
  EXPECT_EQ(record["counters"]["messages"], 48112);
  EXPECT_EQ(record["incidents"][0]["kind"], "silent");
  EXPECT_EQ(record["collectives"], "native") << "what else the library wrote is kept";
  evidence.record = nullptr;
  EXPECT_TRUE(final_record(evidence, {}, {})["counters"].empty());
}

}  // namespace
}  // namespace holdfast::launch
