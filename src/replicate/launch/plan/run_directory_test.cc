#include "replicate/launch/plan/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;
using testing::MatchesRegex;

class RunDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "holdfast-run-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  void touch(const std::string& base) { std::ofstream(folder_ + "/" + base) << "x"; }
  std::string folder_;
};

TEST_F(RunDirectoryTest, PlansAnAbsolutePath) {
  EXPECT_THAT(RunDirectory::plan({}), MatchesRegex("/.*/holdfast-run-[0-9]+-[0-9]+-[0-9]+"));
  EXPECT_EQ(RunDirectory::plan("/a/./b"), "/a/b");
  EXPECT_EQ(RunDirectory::plan("b"), fs::current_path().string() + "/b");
}

TEST_F(RunDirectoryTest, TellsThatItsDiskIsFull) {
  EXPECT_FALSE(takes_no_more(folder_));
  EXPECT_TRUE(fs::is_empty(folder_));
  if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=16k") != 0) GTEST_SKIP() << "only root mounts";
  std::ofstream(folder_ + "/all") << std::string(1 << 20, 'x');
  const bool full = takes_no_more(folder_);
  ::umount(folder_.c_str());
  EXPECT_TRUE(full);
}

TEST_F(RunDirectoryTest, IsGoneAfterASuccessAndStaysAfterAFailure) {
  auto run = RunDirectory::create(folder_ + "/new", false);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run.value().conclude(false));
  EXPECT_TRUE(fs::exists(folder_ + "/new"));
  EXPECT_FALSE(run.value().conclude(true));
  EXPECT_FALSE(fs::exists(folder_ + "/new"));
}

TEST_F(RunDirectoryTest, ClearsAnEarlierRunAndNothingElse) {
  { ASSERT_TRUE(RunDirectory::create(folder_, true).ok()); }
  for (const char* base : {"rank-0.replica-1.out", "incident-0.1.json", "record.json", "hosts", "notes.txt"})
    touch(base);
  fs::create_directories(folder_ + "/holdfast-answers/rank-0.1");
  auto run = RunDirectory::create(folder_, true);
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(fs::exists(folder_ + "/incident-0.1.json"));
  EXPECT_FALSE(fs::exists(folder_ + "/record.json"));
  EXPECT_FALSE(fs::exists(folder_ + "/rank-0.replica-1.out"));
  EXPECT_FALSE(fs::exists(folder_ + "/holdfast-answers"));
  EXPECT_TRUE(fs::exists(folder_ + "/notes.txt"));
  touch("stdin.replica-0");
  fs::create_directories(folder_ + "/holdfast-answers/rank-0.1");
  touch("record.json");
  EXPECT_TRUE(run.value().conclude(true)) << "kept on request";
  EXPECT_FALSE(fs::exists(folder_ + "/stdin.replica-0"));
  EXPECT_FALSE(fs::exists(folder_ + "/holdfast-answers"));
  EXPECT_TRUE(fs::exists(folder_ + "/record.json"));
}

TEST_F(RunDirectoryTest, TakesNoFolderOfOthers) {
  for (const char* base : {"hosts", "stdin", "record.csv", "status-7", "rank-0.out"}) touch(base);
  fs::create_directories(folder_ + "/holdfast-files/mine");
  const Status taken = RunDirectory::create(folder_, true).status();
  EXPECT_EQ(taken.code(), Code::bad_input);
  EXPECT_THAT(taken.message(), testing::HasSubstr("it holds files of others"));
  for (const char* base : {"hosts", "stdin", "record.csv", "status-7", "rank-0.out", "holdfast-files/mine"})
    EXPECT_TRUE(fs::exists(folder_ + "/" + base)) << base;
  EXPECT_FALSE(fs::exists(folder_ + "/.holdfast-run"));
}

TEST_F(RunDirectoryTest, AFileOfThatNameMarksNothing) {
  std::ofstream(folder_ + "/.holdfast-run") << "something else";
  touch("record.json");
  EXPECT_EQ(RunDirectory::create(folder_, true).status().code(), Code::bad_input);
  EXPECT_TRUE(fs::exists(folder_ + "/record.json"));
  fs::remove(folder_ + "/.holdfast-run");
  fs::remove(folder_ + "/record.json");
  fs::create_symlink("/dev/null", folder_ + "/.holdfast-run");
  EXPECT_FALSE(RunDirectory::create(folder_, true).ok()) << "no link is followed";
}

TEST_F(RunDirectoryTest, OneJobAtATime) {
  {
    auto first = RunDirectory::create(folder_, true);
    ASSERT_TRUE(first.ok());
    touch("record.json");
    const Status second = RunDirectory::create(folder_, true).status();
    EXPECT_EQ(second.code(), Code::bad_input);
    EXPECT_THAT(second.message(), testing::HasSubstr("another job is running in it"));
    EXPECT_TRUE(fs::exists(folder_ + "/record.json")) << "the first one's";
  }
  EXPECT_TRUE(RunDirectory::create(folder_, true).ok());
}

TEST_F(RunDirectoryTest, IsTheUsersAlone) {
  auto run = RunDirectory::create(folder_ + "/a/b", true);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(fs::status(folder_ + "/a/b").permissions(), fs::perms::owner_all);
}

/// As nobody, in a folder that everybody may write to.
TEST_F(RunDirectoryTest, AFolderOfAnotherUserIsNotTaken) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  for (const uid_t owner : {1234, 65534}) {
    const std::string path = folder_ + "/of-" + std::to_string(owner);
    fs::create_directories(path);
    ASSERT_EQ(chmod(path.c_str(), 0777), 0);
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    ASSERT_EQ(chown(path.c_str(), owner, owner), 0);
    EXPECT_EXIT(
        {
          if (seteuid(65534) != 0) _exit(99);
          const auto taken = RunDirectory::create(path, true);
          _exit(taken.ok() ? 0 : taken.status().message().find("another user's") != std::string::npos ? 2 : 1);
        },
        testing::ExitedWithCode(owner == 65534 ? 0 : 2), "");
  }
}

TEST_F(RunDirectoryTest, SaysWhenItCannotBeMade) {
  touch("file");
  EXPECT_EQ(RunDirectory::create(folder_ + "/file/run", false).status().code(), Code::io);
}

TEST_F(RunDirectoryTest, AProcessThatReachedItsEndIsSeenByWhatItLeft) {
  EXPECT_FALSE(any_left_a_record(folder_ + "/nowhere"));
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/rank-0.replica-1.out");
  EXPECT_FALSE(any_left_a_record(folder_));
  std::ofstream(folder_ + "/record.2.json");
  EXPECT_TRUE(any_left_a_record(folder_));
}

TEST_F(RunDirectoryTest, AReplicaThatBeganIsSeenByItsOutput) {
  EXPECT_FALSE(any_replica_began(folder_ + "/nowhere"));
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/hosts") << "a\n";
  EXPECT_FALSE(any_replica_began(folder_));
  std::ofstream(folder_ + "/rank-0.replica-1.out");
  EXPECT_TRUE(any_replica_began(folder_));
}

}  // namespace
}  // namespace holdfast::launch
