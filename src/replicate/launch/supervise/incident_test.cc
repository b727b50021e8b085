#include "replicate/launch/supervise/incident.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

constexpr const char* crash =
    R"({"kind": "crash", "rank": 1, "replica": 2, "message": "signal 11\nin call 7", "call": 7, "signal": 11})";

TEST(ReadIncident, TakesWhatIsThere) {
  Incident incident = read_incident(crash, "incident-1.2.json");
  EXPECT_EQ(incident.kind, "crash");
  EXPECT_EQ(incident.rank, 1);
  EXPECT_EQ(incident.replica, 2);
  EXPECT_EQ(incident.message, "signal 11 in call 7") << "always one line";
  EXPECT_EQ(incident.call, 7);
  EXPECT_EQ(incident.signal, 11);
}

TEST(ReadIncident, SurvivesEveryTruncation) {
  std::string whole = crash;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Incident incident = read_incident(whole.substr(0, length), "incident-1.2.json");
    EXPECT_EQ(incident.kind, "unreadable");
    EXPECT_EQ(incident.rank, 1);
    EXPECT_EQ(incident.replica, 2);
  }
}

TEST(ReadIncident, IgnoresMembersOfOtherTypes) {
  Incident incident =
      read_incident(R"({"kind": 3, "rank": "x", "call": 1e99, "signal": 99999999999})", "incident-4.0.json");
  EXPECT_EQ(incident.kind, "");
  EXPECT_EQ(incident.rank, 4);
  EXPECT_EQ(incident.call, -1);
  EXPECT_EQ(incident.signal, 0);
}

TEST(ReadIncident, TakesNoNumberBeyondItsType) {
  const Incident incident = read_incident(
      R"({"kind": "crash", "rank": 18446744073709551615, "replica": 4294967297, "call": 9223372036854775808})",
      "incident-4.1.json");
  EXPECT_EQ(incident.rank, 4);
  EXPECT_EQ(incident.replica, 1);
  EXPECT_EQ(incident.call, -1);
  EXPECT_EQ(read_incident("{}", "incident-4294967297.0.json").rank, -1) << "nor does a file's name";
}

TEST(ReadIncident, OneThatNestsTooDeepToBePrintedIsDamaged) {
  const std::string deep(500'000, '[');
  const std::string text = R"({"kind": "crash", "a": )" + deep + std::string(deep.size(), ']') + "}";
  const Incident incident = read_incident(text, "incident-4.1.json");
  EXPECT_EQ(incident.kind, "unreadable");
  EXPECT_LT(incident.whole.dump().size(), 200U);
}

TEST(ReadIncidents, ReadsAFolderInOrder) {
  std::string pattern = testing::TempDir() + "holdfast-incidents-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  std::ofstream(pattern + "/incident-10.0.json") << R"({"kind": "silent", "rank": 10, "replica": 0})";
  std::ofstream(pattern + "/incident-2.1.json") << R"({"kind": "cra)";
  std::ofstream(pattern + "/record.json") << "{}";
  auto incidents = read_incidents(pattern);
  std::filesystem::remove_all(pattern);
  ASSERT_EQ(incidents.size(), 2U);
  EXPECT_EQ(incidents[0].kind, "unreadable");
  EXPECT_EQ(incidents[1].rank, 10);
  EXPECT_TRUE(read_incidents("/nowhere").empty());
}

TEST(ReadIncidents, OneOfAnotherJobOrHalfWrittenIsStillAnIncident) {
  std::string pattern = testing::TempDir() + "holdfast-incidents-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  std::ofstream(pattern + "/incident-0.0.json") << R"({"job": "this", "kind": "silent"})";
  std::ofstream(pattern + "/incident-0.0.json.draft") << R"({"job": "this", )";
  std::ofstream(pattern + "/incident-0.1.json") << R"({"job": "other", "kind": "outvoted"})";
  std::ofstream(pattern + "/incident-1.1.json.draft") << R"({"job": "this", )";
  const auto incidents = read_incidents(pattern, "this");
  std::filesystem::remove_all(pattern);
  ASSERT_EQ(incidents.size(), 3U);
  EXPECT_EQ(incidents[0].kind, "silent");
  EXPECT_EQ(incidents[1].kind, "unreadable");
  EXPECT_EQ(incidents[1].message, "the incident file incident-0.1.json is another job's");
  EXPECT_EQ(incidents[2].kind, "unreadable");
  EXPECT_EQ(incidents[2].rank, 1);
}

}  // namespace
}  // namespace holdfast::launch
