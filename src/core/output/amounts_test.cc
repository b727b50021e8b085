#include "core/output/amounts.h"

#include <gtest/gtest.h>

namespace holdfast::output {
namespace {

TEST(Grouped, HasACommaEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(48112), "48,112");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Count, TellsOneFromMany) {
  EXPECT_EQ(count(1, "rank", "ranks"), "1 rank");
  EXPECT_EQ(count(0, "rank", "ranks"), "0 ranks");
  EXPECT_EQ(count(1000, "rank", "ranks"), "1,000 ranks");
}

TEST(ByteSize, RoundsToOneDigit) {
  EXPECT_EQ(byte_size(1), "1 byte");
  EXPECT_EQ(byte_size(999), "999 bytes");
  EXPECT_EQ(byte_size(1000), "1.0 kB");
  EXPECT_EQ(byte_size(999960), "1.0 MB");
  EXPECT_EQ(byte_size(UINT64_MAX), "18.4 EB");
}

}  // namespace
}  // namespace holdfast::output
