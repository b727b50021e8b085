#include "replicate/launch/plan/input.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

using testing::ElementsAre;
using Kind = InputPlan::Kind;

class Input : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "holdfast-input-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = std::filesystem::canonical(pattern);
    std::ofstream(folder_ + "/in") << "first\nsecond\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string read_file(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string folder_;
};

TEST_F(Input, HandsAFileOver) {
  int descriptor = open((folder_ + "/in").c_str(), O_RDONLY);
  InputPlan plan = plan_input(descriptor, folder_, 3, true);
  EXPECT_EQ(plan.kind, Kind::file);
  EXPECT_EQ(plan.path, folder_ + "/in");
  close(descriptor);
}

TEST_F(Input, RespectsTheOffset) {
  int descriptor = open((folder_ + "/in").c_str(), O_RDONLY);
  lseek(descriptor, 6, SEEK_SET);
  InputPlan plan = plan_input(descriptor, folder_, 3, false);
  EXPECT_EQ(plan.kind, Kind::spool);
  ASSERT_TRUE(spool_input(descriptor, plan).ok());
  EXPECT_EQ(read_file(plan.path), "second\n");
  close(descriptor);
}

TEST_F(Input, SpoolsAFileWithoutAUsableName) {
  int deleted = open((folder_ + "/in").c_str(), O_RDONLY);
  std::filesystem::rename(folder_ + "/in", folder_ + "/in%r");
  EXPECT_EQ(plan_input(deleted, folder_, 3, false).kind, Kind::spool) << "%r would be replaced";
  std::filesystem::remove(folder_ + "/in%r");
  InputPlan plan = plan_input(deleted, folder_, 3, false);
  EXPECT_EQ(plan.kind, Kind::spool);
  ASSERT_TRUE(spool_input(deleted, plan).ok());
  EXPECT_EQ(read_file(plan.path), "first\nsecond\n");
  close(deleted);
}

TEST_F(Input, TeesAPipeOnOneHostAndSpoolsItOnSeveral) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  InputPlan tee = plan_input(ends[0], "/d", 2, false);
  EXPECT_EQ(tee.kind, Kind::tee);
  EXPECT_EQ(tee.path, "/d/stdin.replica-%r");
  EXPECT_THAT(tee.fifos, ElementsAre("/d/stdin.replica-0", "/d/stdin.replica-1"));
  InputPlan spool = plan_input(ends[0], folder_, 2, true);
  EXPECT_EQ(spool.kind, Kind::spool);
  ASSERT_EQ(write(ends[1], "piped", 5), 5);
  close(ends[1]);
  ASSERT_TRUE(spool_input(ends[0], spool).ok());
  EXPECT_EQ(read_file(spool.path), "piped");
  close(ends[0]);
}

TEST_F(Input, GivesATerminalToOneHostOnly) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "no pseudo terminals here";
  EXPECT_EQ(plan_input(terminal, "/d", 2, false).kind, Kind::tee);
  EXPECT_EQ(plan_input(terminal, "/d", 2, true).path, "/dev/null");
  close(terminal);
}

TEST_F(Input, GivesNothingWhereNothingIs) {
  EXPECT_EQ(plan_input(-1, "/d", 2, false).path, "/dev/null");
  int null = open("/dev/null", O_RDONLY);
  EXPECT_EQ(plan_input(null, "/d", 2, true).kind, Kind::file);
  EXPECT_EQ(plan_input(null, "/d", 2, true).path, "/dev/null");
  close(null);
}

}  // namespace
}  // namespace holdfast::launch
