#include "simulate/job/timeline.h"

#include <gtest/gtest.h>

namespace holdfast::simulate::job {
namespace {

TEST(Timeline, TimeGoesToTheBinsItTouches) {
  Timeline timeline(2, 4);
  timeline.add(1, Activity::message, 500, 2'250);
  EXPECT_EQ(timeline.rows(), 2u);
  EXPECT_EQ(timeline.bin_ps(), 1'000);
  EXPECT_DOUBLE_EQ(timeline.share(1, 0, Activity::message), 0.5);
  EXPECT_DOUBLE_EQ(timeline.share(1, 1, Activity::message), 1);
  EXPECT_DOUBLE_EQ(timeline.share(1, 2, Activity::message), 0.25);
  EXPECT_DOUBLE_EQ(timeline.share(1, 1, Activity::computing), 0);
  EXPECT_DOUBLE_EQ(timeline.share(0, 1, Activity::message), 0);
}

TEST(Timeline, BinsJoinWhenTheRunOutgrowsThem) {
  Timeline timeline(2, 4);
  timeline.add(0, Activity::computing, 0, 4'000);
  EXPECT_EQ(timeline.bin_ps(), 1'000);
  timeline.add(1, Activity::collective, 15'000, 16'000);
  EXPECT_EQ(timeline.bin_ps(), 4'000);
  EXPECT_DOUBLE_EQ(timeline.share(0, 0, Activity::computing), 1);
  EXPECT_DOUBLE_EQ(timeline.share(0, 1, Activity::computing), 0);
  EXPECT_DOUBLE_EQ(timeline.share(1, 3, Activity::collective), 0.25);
}

TEST(Timeline, TimesWithoutAnEndHaveOne) {
  Timeline timeline(1, 2);
  timeline.add(0, Activity::computing, 0, never);
  EXPECT_GE(timeline.bin_ps(), never / 4);
}

}  // namespace
}  // namespace holdfast::simulate::job
