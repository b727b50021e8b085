#include "replicate/launch/supervise/supervise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "replicate/launch/supervise/descendants.h"

namespace holdfast::launch {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Command shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}, {}};
}

/// Supervises a shell script that plays the launcher. Signals are sent by `meanwhile`, from another thread.
class Supervise : public testing::Test {
 protected:
  void SetUp() override {
    // A shell's job in the background has those ignored that the tests send, and what is ignored is not passed on.
    for (const int number : {SIGINT, SIGHUP}) std::signal(number, SIG_DFL);
    std::string pattern = testing::TempDir() + "holdfast-supervise-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    EXPECT_TRUE(descendants(getpid()).empty()) << "something was left behind";
    std::filesystem::remove_all(folder_);
  }

  Ended run(
      const std::string& script, SuperviseOptions options = {}, std::function<void()> meanwhile = [] {}) {
    SignalWatch watch;
    std::thread other(std::move(meanwhile));
    auto ended = supervise(shell("cd " + folder_ + "\n" + script), watch, options);
    other.join();
    EXPECT_TRUE(ended.ok()) << ended.status().message();
    return ended.ok() ? ended.value() : Ended();
  }
  std::string read(const std::string& base) {
    std::ifstream file(folder_ + "/" + base);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Waits until the script has written the file `ready`.
  std::function<void()> when_ready(std::function<void()> then) {
    return [this, then] {
      for (int i = 0; i < 2000 && !std::filesystem::exists(folder_ + "/ready"); ++i)
        std::this_thread::sleep_for(milliseconds(5));
      then();
    };
  }

  std::string folder_;
};

TEST_F(Supervise, ReturnsTheStatus) {
  Ended ended = run("exit 3");
  EXPECT_EQ(ended.exit_status, 3);
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(ended.user_signal, 0);
}

TEST_F(Supervise, ReturnsTheSignalOfACrash) {
  Ended ended = run("kill -SEGV $$");
  EXPECT_EQ(ended.signal, SIGSEGV);
  EXPECT_EQ(ended.user_signal, 0) << "nobody sent it";
}

TEST_F(Supervise, GivesTheEnvironmentAndAnEmptyInput) {
  SignalWatch watch;
  setenv("HOLDFAST_TEST_A", "old", 1);
  Command command = shell("cat > " + folder_ + "/in; echo \"$HOLDFAST_TEST_A\" > " + folder_ + "/a");
  command.environment = {{"HOLDFAST_TEST_A", "new"}};
  ASSERT_TRUE(supervise(command, watch, {}).ok());
  EXPECT_EQ(read("a"), "new\n");
  EXPECT_EQ(read("in"), "");
}

TEST_F(Supervise, PassesEverySignalOn) {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    std::filesystem::remove(folder_ + "/ready");
    std::string script =
        "trap 'echo got > signal; exit 9' " + std::to_string(number) + "; touch ready; while :; do sleep 0.02; done";
    Ended ended = run(script, {}, when_ready([number] { kill(getpid(), number); }));
    EXPECT_EQ(read("signal"), "got\n") << number;
    EXPECT_EQ(ended.exit_status, 9) << number;
    bool ends_jobs = number != SIGUSR1 && number != SIGUSR2;
    EXPECT_EQ(ended.user_signal, ends_jobs ? number : 0);
    std::filesystem::remove(folder_ + "/signal");
  }
}

TEST_F(Supervise, TellsAJobThatEndedByUsr1) {
  Ended ended = run("touch ready; exec sleep 1000", {}, when_ready([] { kill(getpid(), SIGUSR1); }));
  EXPECT_EQ(ended.signal, SIGUSR1);
  EXPECT_EQ(ended.user_signal, SIGUSR1);
}

TEST_F(Supervise, EscalatesWhenALauncherIgnoresSignals) {
  SuperviseOptions options;
  options.grace = milliseconds(100);
  Ended ended = run("trap '' INT TERM; touch ready; while :; do sleep 0.02; done", options,
                    when_ready([] { kill(getpid(), SIGINT); }));
  EXPECT_EQ(ended.signal, SIGKILL);
  EXPECT_EQ(ended.user_signal, SIGINT);
}

TEST_F(Supervise, EndsAtTheTimeLimit) {
  SuperviseOptions options;
  options.time_limit = milliseconds(100);
  Ended ended = run("exec sleep 1000", options);
  EXPECT_TRUE(ended.timed_out);
  EXPECT_EQ(ended.user_signal, 0);
}

TEST_F(Supervise, EndsALauncherThatStaysWhenTheJobIsOver) {
  SuperviseOptions options;
  options.grace = milliseconds(100);
  options.over_descriptor = eventfd(1, EFD_CLOEXEC);
  Ended ended = run("exec sleep 1000", options);
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_FALSE(ended.timed_out);
  EXPECT_EQ(ended.user_signal, 0);

  options.grace = std::chrono::seconds(100);
  EXPECT_EQ(run("sleep 0.1; exit 3", options).exit_status, 3) << "it ends by itself";
  close(options.over_descriptor);
}

TEST_F(Supervise, LeavesNothingBehind) {
  SuperviseOptions options;
  options.linger = milliseconds(20);
  options.grace = milliseconds(200);
  Ended ended = run("setsid sleep 1000 & (trap '' TERM; setsid sh -c 'sleep 1000; true') & exit 5", options);
  EXPECT_EQ(ended.exit_status, 5);
  EXPECT_GE(ended.stragglers, 1);
}

TEST_F(Supervise, SaysWhenTheLauncherCannotStart) {
  SignalWatch watch;
  auto ended = supervise({{"/nowhere/mpirun"}, {}}, watch, {});
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.status().code(), Code::unavailable);
  EXPECT_THAT(ended.status().message(), HasSubstr("starting the launcher /nowhere/mpirun: No such file"));
}

}  // namespace
}  // namespace holdfast::launch
