#include "transport/engine/replay_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace holdfast::transport {
namespace {

TEST(ReplayWindow, ANumberIsFreshOnce) {
  ReplayWindow window;
  EXPECT_FALSE(window.fresh(0));
  for (std::uint64_t number = 1; number < 20'000; ++number) {
    ASSERT_TRUE(window.fresh(number)) << number;
    window.note(number);
    ASSERT_FALSE(window.fresh(number)) << number;
  }
}

TEST(ReplayWindow, WhatWasOvertakenByTooManyCountsAsSeen) {
  ReplayWindow window;
  window.note(10'000);
  EXPECT_TRUE(window.fresh(10'000 - ReplayWindow::width + 1));
  EXPECT_FALSE(window.fresh(10'000 - ReplayWindow::width));
  EXPECT_FALSE(window.fresh(1));
  window.note(~std::uint64_t{0});
  EXPECT_FALSE(window.fresh(10'001));
  EXPECT_TRUE(window.fresh(~std::uint64_t{0} - 1));
}

// Against a set that forgets nothing: never fresh twice, and always fresh the first time within the width.
TEST(ReplayWindow, IsLikeASetOfTheLast) {
  std::mt19937_64 draw(4);
  for (int world = 0; world < 50; ++world) {
    ReplayWindow window;
    std::set<std::uint64_t> seen;
    std::uint64_t last = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t range = draw() % 3 == 0 ? 10'000 : 50;
      const std::uint64_t number = (last > range / 2 ? last - range / 2 : 0) + draw() % range + 1;
      const bool within = number + ReplayWindow::width > last;
      ASSERT_EQ(window.fresh(number), within && !seen.contains(number)) << number << " after " << last;
      if (!window.fresh(number)) continue;
      window.note(number);
      seen.insert(number);
      last = std::max(last, number);
    }
  }
}

}  // namespace
}  // namespace holdfast::transport
