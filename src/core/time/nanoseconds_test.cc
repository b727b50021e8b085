#include "core/time/nanoseconds.h"

#include <gtest/gtest.h>

namespace holdfast::time {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

TEST(Nanoseconds, AreExactWhereTheTypeHoldsThem) {
  EXPECT_EQ(in_ns(timespec{0, 0}), 0);
  EXPECT_EQ(in_ns(timespec{3, 4}), 3'000'000'004);
  EXPECT_EQ(in_ns(timespec{-1, 999'999'999}), -1) << "before 1970";
  EXPECT_EQ(in_ns(timespec{9'223'372'036, 854'775'807}), most);
  EXPECT_EQ(in_ns(timespec{-9'223'372'036, -854'775'808}), least);
}

TEST(Nanoseconds, StopAtTheBoundsOfTheirType) {
  EXPECT_EQ(in_ns(timespec{9'223'372'036, 854'775'808}), most);
  EXPECT_EQ(in_ns(timespec{9'223'372'037, 0}), most);
  EXPECT_EQ(in_ns(timespec{18'446'744'074, 0}), most) << "0.3 s where it wraps";
  EXPECT_EQ(in_ns(timespec{most, 999'999'999}), most);
  EXPECT_EQ(in_ns(timespec{least, 999'999'999}), least);
  EXPECT_EQ(in_ns(timespec{0, most}), most);
}

}  // namespace
}  // namespace holdfast::time
