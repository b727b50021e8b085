#include "replicate/launch/plan/window_folders.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(WindowFolders, LeftBehindAreRemovedUnlessSomebodyHoldsThem) {
  std::string place = testing::TempDir() + "holdfast-windows-XXXXXX";
  ASSERT_NE(mkdtemp(place.data()), nullptr);
  const std::string own = "/holdfast-" + std::to_string(getuid()) + "-";
  const std::string left = place + own + "0123456789abcdef-1";
  const std::string held = place + own + "1123456789abcdef-0";
  const std::string told = place + own + "2123456789abcdef-0";
  const std::string link = place + own + "3123456789abcdef-0";
  const std::string others = place + "/holdfast-notes";
  const std::string another = place + "/holdfast-99999-0123456789abcdef-1";
  for (const std::string& folder : {left, held, told, others, another}) {
    fs::create_directory(folder);
    std::ofstream(folder + "/window") << "x";
  }
  fs::create_directory_symlink(others, link);
  const int lock = ::open(held.c_str(), O_RDONLY | O_DIRECTORY);
  ::flock(lock, LOCK_SH);
  const pid_t child = fork();
  if (child == 0) {
    const std::string variable = "HOLDFAST_RUN_WINDOWS=" + told.substr(0, told.size() - 2);
    execl("/usr/bin/env", "env", variable.c_str(), "sleep", "1000", nullptr);
    _exit(127);
  }
  for (bool sleeps = false; !sleeps; usleep(1000)) {
    std::ifstream name("/proc/" + std::to_string(child) + "/comm");
    std::string text;
    sleeps = static_cast<bool>(name >> text) && text == "sleep";
  }
  remove_left_window_folders(place);
  EXPECT_FALSE(fs::exists(left));
  for (const std::string& folder : {held, told, others, another}) EXPECT_TRUE(fs::exists(folder + "/window")) << folder;
  ::close(lock);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  remove_left_window_folders(place);
  EXPECT_FALSE(fs::exists(held));
  EXPECT_FALSE(fs::exists(told));
  EXPECT_TRUE(fs::exists(others + "/window"));
  fs::remove_all(place);
}

}  // namespace
}  // namespace holdfast::launch
