#include "replicate/launch/supervise/signal_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace holdfast::launch {
namespace {

TEST(SignalWatch, HoldsSignalsUntilTheyAreTaken) {
  SignalWatch watch;
  ASSERT_GE(watch.descriptor(), 0);
  EXPECT_EQ(watch.next(), 0);
  kill(getpid(), SIGUSR1);
  EXPECT_EQ(watch.next(), SIGUSR1);
  EXPECT_EQ(watch.next(), 0);
}

TEST(SignalWatch, LeavesIgnoredSignalsIgnored) {
  signal(SIGHUP, SIG_IGN);
  {
    SignalWatch watch;
    kill(getpid(), SIGHUP);
    EXPECT_EQ(watch.next(), 0);
  }
  signal(SIGHUP, SIG_DFL);
}

TEST(SignalWatch, RestoresTheMask) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    SignalWatch watch;
    kill(getpid(), SIGTERM);  // never taken: must not end this process
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int number : {SIGINT, SIGTERM, SIGCHLD}) EXPECT_EQ(sigismember(&before, number), sigismember(&after, number));
}

}  // namespace
}  // namespace holdfast::launch
