#include "fabric/opensm/scratch.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/scratch/scratch_folder.h"
#include "fabric/opensm/keeper.h"

namespace holdfast::fabric::opensm {
namespace {

namespace fs = std::filesystem;

class LeftFolders : public testing::Test {
 protected:
  LeftFolders() { setenv("TMPDIR", scratch_.path().c_str(), 1); }
  ~LeftFolders() override {
    if (before_.empty())
      unsetenv("TMPDIR");
    else
      setenv("TMPDIR", before_.c_str(), 1);
  }

  /// A folder with a file in it that was last changed two minutes ago.
  static std::string old_folder(const std::string& path) {
    fs::create_directory(path);
    std::ofstream(path + "/opensm.log") << "SUBNET UP";
    make_old(path);
    return path;
  }
  static void make_old(const std::string& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(2));
  }
  std::string in_scratch(const std::string& name) const { return scratch_.file(name); }

 private:
  std::string before_ = getenv("TMPDIR") == nullptr ? "" : getenv("TMPDIR");
  scratch::ScratchFolder scratch_;
};

TEST_F(LeftFolders, ThoseOfNobodyAreRemoved) {
  const std::string left = old_folder(unused_folder());
  remove_left_folders();
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(LeftFolders, OneThatAKeeperHoldsStays) {
  auto keeper = Keeper::open(unused_folder());
  ASSERT_TRUE(keeper.ok()) << keeper.status().message();
  make_old(keeper.value().folder());
  remove_left_folders();
  EXPECT_TRUE(fs::exists(keeper.value().folder()));
}

TEST_F(LeftFolders, AYoungOneStays) {
  const std::string young = unused_folder();
  fs::create_directory(young);
  remove_left_folders();
  EXPECT_TRUE(fs::exists(young)) << "its keeper may be about to lock it";
}

TEST_F(LeftFolders, OtherNamesAndLinksStay) {
  const std::string target = old_folder(in_scratch("of-a-user"));
  const std::string link = unused_folder();
  fs::create_directory_symlink(target, link);
  const std::string named = old_folder(in_scratch("holdfast-opensm-notes-1-2"));
  const std::string kept = old_folder(in_scratch("holdfast-opensm-1-2"));
  remove_left_folders();
  EXPECT_TRUE(fs::exists(target + "/opensm.log"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::exists(named));
  EXPECT_TRUE(fs::exists(kept));
}

}  // namespace
}  // namespace holdfast::fabric::opensm
