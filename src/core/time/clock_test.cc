#include "core/time/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::time {
namespace {

TEST(Clock, NeverGoesBackAndAgreesWithTheStandardLibrary) {
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  std::int64_t last = steady_now_ns();
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t now = steady_now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
  const auto after = std::chrono::steady_clock::now().time_since_epoch();
  EXPECT_GE(last, std::chrono::nanoseconds(before).count());
  EXPECT_LE(last, std::chrono::nanoseconds(after).count());
}

}  // namespace
}  // namespace holdfast::time
