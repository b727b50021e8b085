#include "core/scratch/scratch_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace holdfast::scratch {
namespace {

TEST(ScratchFolder, IsItsOwnAndLeavesNothing) {
  std::string path;
  {
    const ScratchFolder one, other;
    EXPECT_NE(one.path(), other.path());
    path = one.path();
    EXPECT_TRUE(std::filesystem::is_empty(path));
    std::ofstream(one.file("a")) << "x";
    EXPECT_TRUE(std::filesystem::exists(path + "/a"));
    std::filesystem::create_directories(one.file("b/c"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace holdfast::scratch
