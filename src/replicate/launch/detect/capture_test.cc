#include "replicate/launch/detect/capture.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace holdfast::launch {
namespace {

using std::chrono::milliseconds;

TEST(Capture, KeepsBothStreamsAndTheStatus) {
  auto said = capture({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said.value().output, "out\n");
  EXPECT_EQ(said.value().errors, "err\n");
  EXPECT_EQ(said.value().exit_status, 3);
}

TEST(Capture, LeavesVariablesOut) {
  setenv("HOLDFAST_TEST_GONE", "x", 1);
  auto said = capture({"/bin/sh", "-c", "echo \"<$HOLDFAST_TEST_GONE>\""}, {"HOLDFAST_TEST_GONE"});
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said.value().output, "<>\n");
}

TEST(Capture, TakesMoreThanAPipeHolds) {
  auto said = capture({"/bin/sh", "-c", "head -c 300000 /dev/zero"});
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said.value().output.size(), 300000U);
}

TEST(Capture, EndsAProgramThatNeverEnds) {
  auto said = capture({"/bin/sleep", "1000"}, {}, milliseconds(50));
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.status().code(), Code::io);
}

TEST(Capture, SaysWhenItCannotStart) {
  auto said = capture({"/nowhere/program"});
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.status().message(), "running /nowhere/program: No such file or directory");
}

}  // namespace
}  // namespace holdfast::launch
