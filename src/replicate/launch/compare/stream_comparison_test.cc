#include "replicate/launch/compare/stream_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Streams : public ::testing::Test {
 protected:
  Streams() { std::filesystem::create_directories(folder_); }
  /// Rank 0 has so many replicas, rank 1 one.
  void begin(int degree) { degrees_ = {degree, 1}; }
  ~Streams() override { std::filesystem::remove_all(folder_); }
  void print(int replica, const std::string& text, const std::string& ending = ".out") const {
    std::ofstream(folder_ + "/rank-0.replica-" + std::to_string(replica) + ending) << text;
  }
  StreamComparison compare(const std::vector<int>& replicas, const std::string& patterns = "",
                           bool held = false) const {
    return compare_streams(folder_, degrees_, replicas, patterns, held);
  }

  std::vector<int> degrees_{1, 1};
  std::string folder_ = ::testing::TempDir() + "streams-" + std::to_string(getpid());
};

TEST_F(Streams, AlikeInAllReplicas) {
  begin(3);
  for (int k : {0, 1, 2}) print(k, "same\n");
  const StreamComparison found = compare({0, 1, 2});
  EXPECT_EQ(found.streams, 1U);
  EXPECT_EQ(found.bytes, 5U);
  EXPECT_TRUE(found.differences.empty());
}

TEST_F(Streams, TwoReplicasOnlyDetect) {
  begin(2);
  print(0, "one\ntwo = 2\n");
  print(1, "one\ntwo = 3\n");
  const StreamComparison found = compare({0, 1});
  ASSERT_EQ(found.differences.size(), 1U);
  const StreamDifference& difference = found.differences[0];
  EXPECT_FALSE(difference.settled);
  EXPECT_EQ(difference.byte, 10);
  EXPECT_EQ(difference.line, 2);
  EXPECT_EQ(difference_line(difference),
            "rank 0's stdout differs from line 2 (byte 10) on: replica 0 wrote \"two = 2\", replica 1 \"two = 3\": no "
            "majority among replicas 0, 1");
}

TEST_F(Streams, TwoAgainstTwo) {
  begin(4);
  for (int k : {0, 1}) print(k, "a\n");
  for (int k : {2, 3}) print(k, "b\n");
  const StreamComparison found = compare({0, 1, 2, 3});
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_THAT(difference_line(found.differences[0]),
              HasSubstr("replica 0 wrote \"a\", replica 2 \"b\": no majority among replicas 0, 1, 2, 3"));
}

TEST_F(Streams, AMajorityThatWasShownSettlesIt) {
  begin(3);
  for (int k : {0, 1}) print(k, "good\n", ".err");
  print(2, "good\nand more\n", ".err");
  const StreamComparison found = compare({0, 1, 2});
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_TRUE(found.differences[0].settled);
  EXPECT_THAT(found.differences[0].replicas, ElementsAre(2));
  EXPECT_THAT(
      difference_line(found.differences[0]),
      HasSubstr("stderr differs from line 2 (byte 5) on: replica 2 wrote \"and more\", the majority nothing more"));
}

TEST_F(Streams, WhatWasShownWronglyCannotBeTakenBack) {
  begin(3);
  print(0, "bad\n");
  for (int k : {1, 2}) print(k, "good\n");
  const StreamComparison found = compare({0, 1, 2});
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_FALSE(found.differences[0].settled);
  EXPECT_THAT(difference_line(found.differences[0]), HasSubstr("what was shown is wrong, theirs is in " + folder_));
  EXPECT_TRUE(compare({0, 1, 2}, "", true).differences[0].settled) << "the majority's was shown";
}

TEST_F(Streams, OneThatPrintedNothingDiffers) {
  begin(3);
  for (int k : {0, 1}) print(k, "text\n");
  const StreamComparison found = compare({0, 1, 2});
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_THAT(found.differences[0].replicas, ElementsAre(2));
  EXPECT_EQ(found.differences[0].byte, 0);
}

TEST_F(Streams, TheSameLinesInAnotherOrderAreNoCorruption) {
  begin(2);
  print(0, "thread 0\nthread 1\n");
  print(1, "thread 1\nthread 0\n");
  const StreamComparison found = compare({0, 1});
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_TRUE(found.differences[0].settled);
  EXPECT_THAT(difference_line(found.differences[0]), HasSubstr("the same lines in another order"));
}

TEST_F(Streams, SomeMayDiffer) {
  begin(2);
  for (int k : {0, 1}) print(k, std::to_string(k));
  EXPECT_EQ(compare({0, 1}, "*.stdout").tolerated, 1U);
  EXPECT_EQ(compare({0, 1}, "*.stderr").tolerated, 0U);
}

TEST_F(Streams, OnlyReplicasThatAreLeftCount) {
  begin(3);
  print(0, "half a li");
  for (int k : {1, 2}) print(k, "half a line\n");
  EXPECT_TRUE(compare({1, 2}).differences.empty());
  EXPECT_EQ(compare({1}).streams, 0U) << "nobody to compare with";
}

TEST_F(Streams, WhatOneShowedThatWasTakenOut) {
  print(0, "one\nsum 110\n");
  print(2, "one\nsum 10\nmore\n");
  const StreamDifference difference = difference_shown(folder_, 0, ".out", 0, 2, 9);
  EXPECT_FALSE(difference.settled);
  EXPECT_EQ(difference_line(difference),
            "rank 0's stdout differs from line 2 (byte 9) on: replica 0, which was taken out, wrote \"sum 110\", "
            "replica 2 \"sum 10\": what was shown is wrong, theirs is in " +
                folder_ + "/rank-0.replica-2.out");
  print(0, "one\ncrash\n", ".err");
  print(2, "one\n", ".err");
  EXPECT_EQ(difference_line(difference_shown(folder_, 0, ".err", 0, 2, 4)),
            "rank 0's stderr differs from line 2 (byte 4) on: replica 0, which was taken out, wrote \"crash\", replica "
            "2 nothing more");
}

TEST_F(Streams, ReplicasThatTheRankDoesNotHaveAreNotMissed) {
  begin(2);
  for (int k : {0, 1}) print(k, "text\n");
  const StreamComparison found = compare({0, 1, 2});
  EXPECT_EQ(found.streams, 1U);
  EXPECT_TRUE(found.differences.empty());
}

TEST_F(Streams, ARecordThatVanishedIsADifference) {
  begin(3);
  print(0, "wrong\n");  // neither of the other two files is there
  EXPECT_EQ(compare({0, 1, 2}).differences.size(), 1U);
}

TEST_F(Streams, TheRecordSaysAll) {
  begin(2);
  print(0, "a");
  print(1, "b");
  const auto record = compare({0, 1}).record();
  EXPECT_EQ(record["streams"], 1);
  EXPECT_EQ(record["differences"][0]["stream"], "stdout");
  EXPECT_EQ(record["differences"][0]["odd"], "a");
  EXPECT_EQ(record["differences"][0]["others"], "b");
}

}  // namespace
}  // namespace holdfast::launch
