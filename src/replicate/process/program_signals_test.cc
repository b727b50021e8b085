#include "replicate/process/program_signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "replicate/process/depth.h"

namespace holdfast::replicate {
namespace {

using namespace std::chrono_literals;

volatile sig_atomic_t called = 0;
void count(int /*number*/) {
  called = called + 1;
}

/// From another process.
void send(int number) {
  const pid_t child = fork();
  if (child == 0) {
    ::kill(::getppid(), number);
    _exit(0);
  }
  ASSERT_GT(child, 0);
  ::waitpid(child, nullptr, 0);
}

class ProgramSignals : public testing::Test {
 protected:
  ProgramSignals() {
    depth = 0;
    called = 0;
    put_off_signals(true);
  }
  ~ProgramSignals() override {
    for (const int number : {SIGUSR2, SIGTERM}) handle(number, SIG_DFL);
    put_off_signals(false);
    depth = depth_;
  }
  static struct sigaction handle(int number, sighandler_t handler, int flags = 0) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    EXPECT_EQ(set_program_action(number, &action, &before), 0);
    return before;
  }
  /// A call at whose end the leader has the handler called, for the first time or another.
  static void call_ends(int number, int leaders_call = 1) {
    call_handler_after_call(static_cast<std::uint8_t>(leaders_call % 8 << 5 | number));
    const CallsHandlers end;
  }
  static int number_of_waiting() { return take_waiting_signal() & 31; }
  static void expect_called_within_a_minute(int times) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (called < times && std::chrono::steady_clock::now() < end) ::usleep(1000);
    EXPECT_EQ(called, times);
  }
  int depth_ = depth;  ///< the tests are run inside Holdfast
};

TEST_F(ProgramSignals, WaitForTheEndOfTheCallThatTheLeaderNames) {
  handle(SIGUSR2, count);
  send(SIGUSR2);
  send(SIGUSR2);
  EXPECT_EQ(called, 0);
  EXPECT_EQ(number_of_waiting(), SIGUSR2);
  { const CallsHandlers none_is_due; }
  EXPECT_EQ(called, 0);
  call_ends(SIGUSR2);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(take_waiting_signal(), 0);
}

TEST_F(ProgramSignals, OfTheLeaderCountWhereTheyComeLater) {
  handle(SIGUSR2, count);
  call_ends(SIGUSR2);
  EXPECT_EQ(called, 1);
  send(SIGUSR2);
  EXPECT_EQ(take_waiting_signal(), 0) << "it is that one";
  send(SIGUSR2);
  EXPECT_EQ(number_of_waiting(), SIGUSR2) << "the next one is not";
}

TEST_F(ProgramSignals, AreNotPutOffForEver) {
  handle(SIGTERM, count);
  send(SIGTERM);
  EXPECT_EQ(called, 0);
  expect_called_within_a_minute(1);
  EXPECT_EQ(take_waiting_signal(), 0);
}

TEST_F(ProgramSignals, WhosePatienceEndsAtTheCallThatTheLeaderNamesAreCalledOnce) {
  handle(SIGTERM, count);
  send(SIGTERM);
  expect_called_within_a_minute(1);
  call_ends(SIGTERM, 1);
  EXPECT_EQ(called, 1);
  call_ends(SIGTERM, 2);
  EXPECT_EQ(called, 2) << "another is another";
}

TEST_F(ProgramSignals, TheLeaderCountsTheCallsOfAHandler) {
  handle(SIGUSR2, count);
  for (int call = 1; call < 20; ++call) {
    send(SIGUSR2);
    const std::uint8_t named = take_waiting_signal();
    EXPECT_EQ(named >> 5, call % 8);
    call_handler_after_call(named);
    { const CallsHandlers end; }
    EXPECT_EQ(called, call);
  }
}

TEST_F(ProgramSignals, TheProgramSeesItsOwnActions) {
  handle(SIGUSR2, count, SA_RESTART);
  struct sigaction seen {};
  ASSERT_EQ(set_program_action(SIGUSR2, nullptr, &seen), 0);
  EXPECT_EQ(seen.sa_handler, count);
  EXPECT_EQ(seen.sa_flags, SA_RESTART);
  EXPECT_EQ(handle(SIGUSR2, SIG_IGN).sa_handler, count);
  send(SIGUSR2);
  EXPECT_EQ(take_waiting_signal(), 0);
  EXPECT_EQ(handle(SIGUSR2, count).sa_handler, SIG_IGN);
}

TEST_F(ProgramSignals, AHandlerForOnceIsCalledOnce) {
  handle(SIGUSR2, count, static_cast<int>(SA_RESETHAND));
  send(SIGUSR2);
  call_ends(SIGUSR2);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(handle(SIGUSR2, SIG_IGN).sa_handler, SIG_DFL);
}

TEST_F(ProgramSignals, AHandlerForOnceThatTheLeaderNamesTakesItsSignal) {
  handle(SIGUSR2, count, static_cast<int>(SA_RESETHAND));
  call_ends(SIGUSR2);
  send(SIGUSR2);  // would end the program
  EXPECT_EQ(called, 1);
}

TEST_F(ProgramSignals, OneThatWasTakenMayComeAgain) {
  handle(SIGUSR2, count);
  send(SIGUSR2);
  EXPECT_EQ(number_of_waiting(), SIGUSR2);
  EXPECT_EQ(take_waiting_signal(), 0);
  send(SIGUSR2);
  call_ends(SIGUSR2);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(number_of_waiting(), SIGUSR2);
}

TEST_F(ProgramSignals, AreTheProgramsAtOnceOutsideMpi) {
  handle(SIGUSR2, count);
  put_off_signals(false);
  send(SIGUSR2);
  EXPECT_EQ(called, 1);
}

TEST_F(ProgramSignals, ThatAProcessSendsItselfComeAtOnce) {
  handle(SIGUSR2, count);
  raise(SIGUSR2);
  ::kill(::getpid(), SIGUSR2);
  EXPECT_EQ(called, 2);
  EXPECT_EQ(take_waiting_signal(), 0);
}

TEST(ProgramSignal, ThatIsAFaultOrAChildsIsNotPutOff) {
  for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGCHLD, SIGPIPE, SIGPROF}) EXPECT_FALSE(is_put_off(number));
  for (const int number : {SIGUSR1, SIGALRM, SIGTERM}) EXPECT_TRUE(is_put_off(number));
}

}  // namespace
}  // namespace holdfast::replicate
