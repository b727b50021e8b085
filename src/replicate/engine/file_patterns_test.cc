#include "replicate/engine/file_patterns.h"

#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

TEST(FilePatterns, FitTheNameOrTheWholePath) {
  EXPECT_TRUE(fits_a_pattern("/data/run.log", "*.log"));
  EXPECT_TRUE(fits_a_pattern("/data/run.log", "/data/*"));
  EXPECT_TRUE(fits_a_pattern("rank-3.stdout", "*.stderr:rank-3.*"));
  EXPECT_FALSE(fits_a_pattern("/data/run.log", "data:run"));
  EXPECT_FALSE(fits_a_pattern("/data/run.log", ""));
}

}  // namespace
}  // namespace holdfast::replicate
