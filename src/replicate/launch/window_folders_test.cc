#include "replicate/launch/window_folders.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

TEST(WindowFolders, OfTwoJobsHaveTwoNames) {
  EXPECT_NE(window_folders(1), window_folders(2));
  EXPECT_EQ(fs::path(window_folders(1)).parent_path(), "/dev/shm");
}

TEST(WindowFolders, AreRemovedWithWhatIsInThemAndNothingElseIs) {
  std::string pattern = testing::TempDir() + "holdfast-windows-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::string prefix = pattern + "/job";
  fs::create_directory(prefix + "-1");
  std::ofstream(prefix + "-1/window") << "x";
  fs::create_directory(prefix + "-2");
  remove_window_folders(prefix, 2);
  EXPECT_FALSE(fs::exists(prefix + "-1"));
  EXPECT_TRUE(fs::exists(prefix + "-2"));
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace holdfast::launch
