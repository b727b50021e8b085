#include "replicate/launch/detect/preload.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

TEST(JoinPreload, KeepsWhatTheUserHas) {
  EXPECT_EQ(join_preload("/l/ours.so", "", false), "/l/ours.so");
  EXPECT_EQ(join_preload("/l/ours.so", "a.so:b.so", false), "/l/ours.so:a.so:b.so");
  EXPECT_EQ(join_preload("/l/ours.so", "a.so:b.so", true), "a.so:b.so:/l/ours.so");
  EXPECT_EQ(join_preload("/l/ours.so", "", true), "/l/ours.so");
}

}  // namespace
}  // namespace holdfast::launch
