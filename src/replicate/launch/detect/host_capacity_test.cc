#include "replicate/launch/detect/host_capacity.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

TEST(HostCapacity, WhatCannotBeHeldIsRefusedInALineWithBothNumbers) {
  EXPECT_TRUE(check_capacity(300, 32'768, 2'000'000'000).ok());
  EXPECT_EQ(
      check_capacity(300'000, 32'768, 2'000'000'000).message(),
      "planning 300,000 processes on this host: it can have 32,768: ask for fewer ranks or replicas, or give more "
      "hosts with --hostfile");
  EXPECT_EQ(check_capacity(3'000, 32'768, 2'000'000'000).wrong(),
            "it needs about 12 GB of memory, and 2 GB are available");
}

TEST(HostCapacity, OfOtherHostsIsNotKnown) {
  EXPECT_TRUE(check_capacity(100'000'000, false).ok());
  EXPECT_FALSE(check_capacity(100'000'000, true).ok());
}

}  // namespace
}  // namespace holdfast::launch
