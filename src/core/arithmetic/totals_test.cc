#include "core/arithmetic/totals.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace holdfast::arithmetic {
namespace {

TEST(Totals, StopAtTheLargestNumber) {
  EXPECT_EQ(add_or_most<std::uint64_t>(3, 4), 7U);
  EXPECT_EQ(add_or_most<std::uint64_t>(UINT64_MAX - 1, 4), UINT64_MAX);
  EXPECT_EQ(add_or_most<std::int64_t>(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(add_or_most<std::int64_t>(INT64_MAX - 1, 1), INT64_MAX);
}

}  // namespace
}  // namespace holdfast::arithmetic
