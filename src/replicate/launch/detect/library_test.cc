#include "replicate/launch/detect/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::launch {
namespace {

using testing::HasSubstr;

TEST(LibraryFolders, TheUsersComeFirst) {
  auto folders = library_folders("/opt/h/bin", "/a::/b");
  ASSERT_EQ(folders.size(), 5U);
  EXPECT_EQ(folders[0], "/a");
  EXPECT_EQ(folders[1], "/b");
  EXPECT_EQ(folders[2], "/opt/h/lib");
  EXPECT_THAT(folders[3], testing::MatchesRegex("/opt/h/lib.*/holdfast"));
  EXPECT_EQ(folders[4], "/opt/h/bin");
}

TEST(LibraryFolders, ARelativeOneIsNowhereWhenTheWorkingFolderIsGone) {
  const auto before = std::filesystem::current_path();
  {
    const scratch::ScratchFolder folder;
    std::filesystem::current_path(folder.path());
  }
  const auto folders = library_folders("/opt/h/bin", "a:/b");
  std::filesystem::current_path(before);
  ASSERT_EQ(folders.size(), 4U);
  EXPECT_EQ(folders[0], "/b");
}

TEST(FindLibrary, LooksWhereTheUserSays) {
  std::string pattern = testing::TempDir() + "holdfast-library-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  std::ofstream(pattern + "/" + library_file("mpich")) << "x";
  setenv("HOLDFAST_LIBRARY_PATH", pattern.c_str(), 1);
  auto found = find_library("mpich");
  unsetenv("HOLDFAST_LIBRARY_PATH");
  std::filesystem::remove_all(pattern);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found.value(), HasSubstr("/libholdfast-replicate-mpich.so"));
}

TEST(FindLibrary, SaysHowToGetThatOfTheStandardsInterface) {
  setenv("HOLDFAST_LIBRARY_PATH", "/none", 1);
  const auto found = find_library("abi");
  unsetenv("HOLDFAST_LIBRARY_PATH");
  if (found.ok()) GTEST_SKIP() << "it is built here: " << found.value();
  EXPECT_EQ(found.status().code(), Code::unavailable);
  EXPECT_THAT(found.status().message(), HasSubstr("-DHOLDFAST_MPI_ABI_MPICC="));
}

}  // namespace
}  // namespace holdfast::launch
