#include "replicate/launch/compare/record_merge.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

class RecordMerge : public ::testing::Test {
 protected:
  RecordMerge() { std::filesystem::create_directories(folder_); }
  ~RecordMerge() override { std::filesystem::remove_all(folder_); }
  void leave(int replica, const std::string& text) {
    std::ofstream(folder_ + "/record." + std::to_string(replica) + ".json") << R"({"job": "this", )" << text.substr(1);
  }
  std::string folder_ = ::testing::TempDir() + "record-merge-" + std::to_string(getpid());
};

TEST_F(RecordMerge, NothingGivesNothing) {
  EXPECT_TRUE(merge_records(folder_, "this", 3).is_null());
}

TEST_F(RecordMerge, CountersAndCulpritsAddUpAndAMissingReplicaIsLeftOut) {
  leave(0, R"({"ranks": 2, "degree": 3, "counters": {"messages": 3, "bytes": 10},
               "corrupted": [{"rank": 1, "replica": 0, "copies": 2}]})");
  leave(2, R"({"ranks": 2, "degree": 3, "counters": {"messages": 4, "bytes": 20},
               "corrupted": [{"rank": 1, "replica": 0, "copies": 1}, {"rank": 0, "replica": 2, "copies": 5}]})");
  EXPECT_EQ(merge_records(folder_, "this", 3).dump(),
            R"({"ranks":2,"degree":3,"counters":{"messages":7,"bytes":30},)"
            R"("corrupted":[{"rank":0,"replica":2,"copies":5},{"rank":1,"replica":0,"copies":3}]})");
}

TEST_F(RecordMerge, ARecordThatIsGoneOrAnotherJobsIsMissing) {
  for (int k : {0, 1, 2}) leave(k, R"({"counters": {"messages": 3}})");
  EXPECT_EQ(missing_record(folder_, "this", {0, 1, 2}), "");
  EXPECT_NE(missing_record(folder_, "other", {0, 1, 2}), "");
  EXPECT_TRUE(merge_records(folder_, "other", 3).is_null());
  leave(1, R"({"counters": {"mess)");
  EXPECT_EQ(missing_record(folder_, "this", {0, 1, 2}),
            "the record of replica 1 (record.1.json) is missing or damaged");
  EXPECT_EQ(missing_record(folder_, "this", {0, 2}), "") << "replica 1 was taken out";
  std::filesystem::remove_all(folder_);
  EXPECT_NE(missing_record(folder_, "this", {0, 2}), "");
}

TEST_F(RecordMerge, RecordsWithMembersOfOtherTypesAreRead) {
  leave(0, R"({"ranks": "two", "degree": [3]})");
  EXPECT_EQ(merge_records(folder_, "this", 1)["ranks"], 0);
}

TEST_F(RecordMerge, SumsAreAtMostWhatANumberHolds) {
  for (int k : {0, 1})
    leave(k, R"({"counters": {"messages": 18446744073709551614},
                 "corrupted": [{"rank": 1, "replica": 0, "copies": 18446744073709551615}]})");
  const auto merged = merge_records(folder_, "this", 2);
  EXPECT_EQ(merged["counters"]["messages"], 18446744073709551615U);
  EXPECT_EQ(merged["corrupted"][0]["copies"], 18446744073709551615U) << "not few enough to be no suspect";
}

TEST_F(RecordMerge, DamagedPartsHarmNobody) {
  leave(0, "{\"ranks\": 2, \"degr");
  leave(1,
        R"({"ranks": 2, "degree": 2, "counters": {"messages": -1, "bytes": "x", "decisions": 2}, "corrupted": [7]})");
  EXPECT_EQ(merge_records(folder_, "this", 2).dump(),
            R"({"ranks":2,"degree":2,"counters":{"decisions":2},"corrupted":[]})");
}

}  // namespace
}  // namespace holdfast::launch
