#include "replicate/launch/compare/file_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "replicate/shadow/file_view.h"

namespace holdfast::launch {
namespace {

std::vector<int> all_of(int degree) {
  std::vector<int> replicas(static_cast<std::size_t>(degree));
  std::iota(replicas.begin(), replicas.end(), 0);
  return replicas;
}

namespace fs = std::filesystem;
using replicate::Change;
using replicate::FileView;
using replicate::Prepared;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Replicas that write into a work folder.
class FileComparisonTest : public ::testing::Test {
 protected:
  FileComparisonTest() {
    std::string pattern = (fs::temp_directory_path() / "holdfast-compare-XXXXXX").string();
    root_ = fs::canonical(::mkdtemp(pattern.data())).string();
    fs::create_directories(root_ + "/folder");
    fs::create_directories(run());
  }
  ~FileComparisonTest() override { fs::remove_all(root_); }

  std::string run() const { return root_ + "/run"; }
  std::string at(const std::string& name) const { return root_ + "/folder/" + name; }
  void write(int replica, const std::string& name, const std::string& text) const {
    Prepared prepared;
    ASSERT_EQ(FileView(run(), replica).prepare(at(name), Change::emptied, prepared), 0);
    std::ofstream(prepared.path) << text;
  }
  std::string left(const std::string& name) const {
    std::ifstream file(at(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  FileComparison compare(int degree, const std::string& patterns = "", int complete = 0) const {
    return compare_files(run(), all_of(degree), complete > 0 ? complete : degree, patterns);
  }

  std::string root_;
};

TEST_F(FileComparisonTest, TheSameEverywhereLeavesNothingBehind) {
  for (int k : {0, 1, 2}) write(k, "a", "same");
  const FileComparison found = compare(3);
  EXPECT_EQ(found.paths, 1U) << "not the folders in front of it";
  EXPECT_EQ(found.bytes, 4U);
  EXPECT_TRUE(found.differences.empty());
  EXPECT_EQ(left("a"), "same");
  EXPECT_FALSE(fs::exists(run() + "/holdfast-files"));
}

TEST_F(FileComparisonTest, TwoReplicasOnlyDetect) {
  write(0, "a", "abcdef");
  write(1, "a", "abcXef");
  const FileComparison found = compare(2);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_FALSE(found.settled());
  EXPECT_EQ(found.differences[0].path, at("a"));
  EXPECT_EQ(found.differences[0].first_difference, 3);
  EXPECT_THAT(found.differences[0].replicas, ElementsAre(0, 1));
  EXPECT_THAT(difference_line(found.differences[0]), HasSubstr("from byte 3 on: no majority among replicas 0, 1"));
  EXPECT_TRUE(shadows_left(run(), 2));
  EXPECT_EQ(left("a"), "abcdef");
}

TEST_F(FileComparisonTest, TheMajoritysFileTakesTheLeadersPlace) {
  write(0, "a", "bad");
  for (int k : {1, 2}) write(k, "a", "good");
  for (int k : {0, 1}) write(k, "b", "good");
  write(2, "b", "good but longer");
  const FileComparison found = compare(3);
  ASSERT_EQ(found.differences.size(), 2U);
  EXPECT_TRUE(found.settled());
  EXPECT_TRUE(found.differences[0].replaced);
  EXPECT_THAT(found.differences[0].replicas, ElementsAre(0));
  EXPECT_FALSE(found.differences[1].replaced);
  EXPECT_EQ(found.differences[1].first_difference, 4);
  EXPECT_EQ(left("a"), "good");
  EXPECT_EQ(left("b"), "good");
  EXPECT_FALSE(fs::exists(run() + "/holdfast-files"));
}

TEST_F(FileComparisonTest, AFileThatOnlySomeWroteOrRemovedIsADifference) {
  write(0, "extra", "x");
  for (int k : {1, 2}) write(k, "missing", "m");
  const FileComparison found = compare(3);
  EXPECT_EQ(found.differences.size(), 2U);
  EXPECT_TRUE(found.settled());
  EXPECT_FALSE(fs::exists(at("extra")));
  EXPECT_EQ(left("missing"), "m");
}

TEST_F(FileComparisonTest, WhatSomebodyOutsideTakesAwayOrMakesIsNoDifference) {
  std::ofstream(at("answer")) << "before";
  Prepared prepared;
  for (int k : {0, 1, 2}) write(k, "question", "the job's");
  ASSERT_EQ(FileView(run(), 0).prepare(at("answer"), Change::removal, prepared), 0);
  for (int k : {1, 2}) ASSERT_EQ(FileView(run(), k).hide(at("answer"), false), 0);
  for (int k : {0, 1, 2}) {
    Prepared box;
    ASSERT_EQ(FileView(run(), k).prepare(at("box"), Change::name, box), 0);
    fs::create_directories(box.path);
    for (const char* name : {"box/own", "box/question"}) write(k, name, "the job's");
  }
  fs::create_directories(at("box/theirs"));
  for (const char* name : {"answer", "box/letter", "box/theirs/letter"}) std::ofstream(at(name)) << "from outside";
  for (const char* name : {"question", "box/question"}) fs::remove(at(name));
  const FileComparison found = compare(3);
  EXPECT_TRUE(found.differences.empty());
  for (const char* name : {"question", "box/question"}) EXPECT_FALSE(fs::exists(at(name))) << name;
  for (const char* name : {"answer", "box/letter", "box/theirs/letter"}) EXPECT_EQ(left(name), "from outside");
}

TEST_F(FileComparisonTest, WhatTheLeaderAloneMadeInADirectoryOfTheJobsIsADifference) {
  for (int k : {0, 1, 2}) {
    Prepared box;
    ASSERT_EQ(FileView(run(), k).prepare(at("box"), Change::name, box), 0);
    fs::create_directories(box.path);
  }
  write(0, "box/extra", "x");
  const FileComparison found = compare(3);
  EXPECT_EQ(found.differences.size(), 1U);
  EXPECT_FALSE(fs::exists(at("box/extra")));
}

TEST_F(FileComparisonTest, WhatTheLeaderMayHaveRemovedAloneIsADifference) {
  for (int k : {0, 1, 2}) write(k, "log", "text");
  ASSERT_EQ(FileView(run(), 0).note_alone(at("log")), 0);  // by a thread of its own, perhaps
  for (int k : {0, 1, 2}) {
    Prepared prepared;
    ASSERT_EQ(FileView(run(), k).prepare(at("made"), Change::name, prepared), 0);
    fs::create_directories(prepared.path);
  }
  for (int k : {1, 2}) write(k, "made/never", "by the leader");
  fs::remove(at("log"));
  const FileComparison found = compare(3);
  EXPECT_EQ(found.differences.size(), 2U);
  EXPECT_EQ(left("log"), "text");
  EXPECT_EQ(left("made/never"), "by the leader");
}

TEST_F(FileComparisonTest, ThreeDifferentStatesHaveNoMajority) {
  for (int k : {0, 1, 2}) write(k, "a", std::string(1, static_cast<char>('a' + k)));
  EXPECT_FALSE(compare(3).settled());
  EXPECT_EQ(left("a"), "a");
}

TEST_F(FileComparisonTest, SomeFilesMayDiffer) {
  for (int k : {0, 1}) write(k, "run.log", std::to_string(k));
  EXPECT_EQ(compare(2, "nothing:*.log").tolerated, 1U);
}

TEST_F(FileComparisonTest, FilesOfAReplicaThatSomeRanksLackAreNotCompared) {
  for (int k : {0, 1}) write(k, "a", "of two ranks");
  write(2, "a", "of one");
  EXPECT_TRUE(compare(3, "", 2).differences.empty());
  for (int k : {0, 1}) write(k, "b", std::to_string(k));
  EXPECT_EQ(compare(3, "", 2).differences.size(), 1U);
}

TEST_F(FileComparisonTest, NothingIsComparedWhereARankHasOneReplica) {
  write(0, "a", "of two ranks");
  write(1, "a", "of one");
  EXPECT_TRUE(compare(2, "", 1).differences.empty());
  EXPECT_EQ(left("a"), "of two ranks");
  EXPECT_FALSE(fs::exists(run() + "/holdfast-files"));
}

TEST_F(FileComparisonTest, TheRecordSaysAll) {
  write(0, "a", "a");
  write(1, "a", "b");
  const auto record = compare(2).record();
  EXPECT_EQ(record["differences"][0]["path"], at("a"));
  EXPECT_EQ(record["differences"][0]["corrected"], false);
  EXPECT_EQ(record["differences"][0]["first_difference"], 0);
}

}  // namespace
}  // namespace holdfast::launch
