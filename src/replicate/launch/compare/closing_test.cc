#include "replicate/launch/compare/closing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

using ::testing::HasSubstr;

class Closing : public ::testing::Test {
 protected:
  Closing() {
    std::filesystem::create_directories(folder_ + "/holdfast-files/base");
    std::filesystem::create_directories(folder_ + "/holdfast-files/replica-1");
    for (const char* pair : {"0.0", "0.1", "1.0", "1.1"})
      write("finished-" + std::string(pair), "job this stdout 4 stderr 0 files 1\n");
    for (const char* pair : {"0.replica-0", "0.replica-1", "1.replica-0", "1.replica-1"})
      write("rank-" + std::string(pair) + ".out", "four and more");
  }
  ~Closing() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  void lose(const std::string& name) const { std::filesystem::remove_all(folder_ + "/" + name); }
  std::string missing(const std::vector<int>& replicas = {0, 1}, const std::string& job = "this") const {
    return missing_evidence(folder_, job, replicate::ReplicaMap::uniform(2, 2).value(), replicas);
  }

  std::string folder_ = ::testing::TempDir() + "closing-" + std::to_string(getpid());
};

TEST_F(Closing, NothingIsMissing) {
  EXPECT_EQ(missing(), "");
}

TEST_F(Closing, AStatementThatIsGoneDamagedOrAnotherJobs) {
  EXPECT_THAT(missing({0, 1}, "other"), HasSubstr("another job's"));
  lose("finished-1.1");
  EXPECT_THAT(missing(), HasSubstr("rank 1 replica 1 (finished-1.1) is missing"));
  EXPECT_EQ(missing({0}), "") << "replica 1 was taken out";
  const std::string whole = "job this stdout 4 stderr 0 files 1";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write("finished-1.1", whole.substr(0, length));
    EXPECT_NE(missing(), "") << length;
  }
  write("finished-1.1", "job this stdout -4 stderr 0 files 1");
  EXPECT_NE(missing(), "");
}

TEST_F(Closing, ARecordOfAStreamThatIsGoneOrCutOff) {
  write("rank-0.replica-1.out", "fou");
  EXPECT_THAT(missing(), HasSubstr("(rank-0.replica-1.out) is missing or shorter"));
  lose("rank-0.replica-1.out");
  EXPECT_THAT(missing(), HasSubstr("(rank-0.replica-1.out) is missing or shorter"));
}

TEST_F(Closing, FilesThatAreGone) {
  lose("holdfast-files/replica-1");
  EXPECT_THAT(missing(), HasSubstr("holdfast-files/replica-1"));
  lose("holdfast-files");
  EXPECT_THAT(missing({0}), HasSubstr("holdfast-files/base"));
}

TEST_F(Closing, TheWholeFolderIsGone) {
  std::filesystem::remove_all(folder_);
  EXPECT_NE(missing(), "");
}

}  // namespace
}  // namespace holdfast::launch
