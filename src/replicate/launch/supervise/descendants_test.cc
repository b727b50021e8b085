#include "replicate/launch/supervise/descendants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace holdfast::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

pid_t start(const char* script) {
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", script, static_cast<char*>(nullptr));
    _exit(127);
  }
  return child;
}

void wait_for_descendants(std::size_t count) {
  for (int i = 0; i < 1000 && descendants(getpid()).size() < count; ++i) std::this_thread::sleep_for(milliseconds(5));
}

TEST(EndDescendants, FindsOrphansInOtherSessions) {
  Subreaper subreaper;
  pid_t child = start("setsid sleep 1000 & setsid sh -c 'sleep 1000; true' & exit 0");
  waitpid(child, nullptr, 0);
  wait_for_descendants(3);
  EXPECT_EQ(descendants(getpid()).size(), 3U);
  EXPECT_GE(end_descendants(milliseconds(10), seconds(5)), 2);
  EXPECT_TRUE(descendants(getpid()).empty());
}

TEST(EndDescendants, KillsWhatIgnoresTerm) {
  Subreaper subreaper;
  start("trap '' TERM; while :; do sleep 1000; done");
  wait_for_descendants(2);
  EXPECT_GE(end_descendants(milliseconds(0), milliseconds(100)), 1);
  EXPECT_TRUE(descendants(getpid()).empty());
}

TEST(EndDescendants, LetsThemEndByThemselves) {
  Subreaper subreaper;
  start("sleep 0.05");
  EXPECT_EQ(end_descendants(seconds(20), seconds(1)), 0);
}

}  // namespace
}  // namespace holdfast::launch
