#include "replicate/launch/supervise/guardian.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/scratch/scratch_folder.h"
#include "replicate/launch/supervise/supervise.h"

namespace holdfast::launch {
namespace {

using std::chrono::milliseconds;

bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 4000 && !what(); ++i) std::this_thread::sleep_for(milliseconds(5));
  return what();
}

constexpr const char* counts_signals = "HOLDFAST_TEST_COUNTS_SIGNALS";

/// This program as a launcher that counts its SIGTERMs, which a shell's trap does not: those that come before `quiet`
/// has passed without one, into the file `terms` of the folder.
bool count_signals() {
  const char* folder = getenv(counts_signals);
  if (folder == nullptr) return false;
  const std::string at = folder;
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  std::ofstream(at + "/pid") << getpid();
  std::ofstream(at + "/ready").close();
  const timespec patience{60, 0};
  const timespec quiet{0, 300'000'000};
  int count = 0;
  while (sigtimedwait(&term, nullptr, count == 0 ? &patience : &quiet) == SIGTERM) ++count;
  std::ofstream(at + "/counted") << count;
  std::filesystem::rename(at + "/counted", at + "/terms");
  _exit(0);
}
const bool is_a_launcher = count_signals();

/// A launcher under a `holdfast run` with several threads, which is killed.
class GuardianOfAKilledParent : public testing::Test {
 protected:
  void TearDown() override { kill(launcher(), SIGKILL); }

  void kill_while_running(const Command& command, milliseconds grace) {
    const pid_t parent = fork();
    if (parent == 0) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 8; ++i) threads.emplace_back([] { pause(); });
      SignalWatch watch;
      SuperviseOptions options;
      options.grace = grace;
      (void)supervise(command, watch, options);
      _exit(0);
    }
    const bool ready = comes_true([&] { return std::filesystem::exists(scratch_.file("ready")); });
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    ASSERT_TRUE(ready);
  }
  std::string read(const std::string& base) const {
    std::ifstream file(scratch_.file(base));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  pid_t launcher() const { return std::stoi(read("pid")); }
  bool launcher_is_gone() const { return kill(launcher(), 0) != 0; }

  scratch::ScratchFolder scratch_;
};

TEST_F(GuardianOfAKilledParent, SendsOneSignal) {
  kill_while_running({{"/proc/self/exe"}, {{counts_signals, scratch_.path()}}}, std::chrono::seconds(60));
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(scratch_.file("terms")); }));
  EXPECT_EQ(read("terms"), "1");
}

TEST_F(GuardianOfAKilledParent, EndsALauncherThatIgnoresIt) {
  kill_while_running(
      {{"/bin/sh", "-c",
        "cd " + scratch_.path() + "\necho $$ > pid; trap '' TERM; touch ready; while :; do sleep 0.01; done"},
       {}},
      milliseconds(50));
  EXPECT_TRUE(comes_true([&] { return launcher_is_gone(); }));
}

TEST(Guardian, EndsWithoutALauncher) {
  ASSERT_TRUE(Guardian::start(std::chrono::seconds(60)).ok());  // and is waited for
}

TEST(Guardian, HoldsNothingOfItsParents) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  auto guardian = Guardian::start(std::chrono::seconds(60));
  ASSERT_TRUE(guardian.ok());
  close(ends[1]);
  char none = 0;
  EXPECT_EQ(::read(ends[0], &none, 1), 0) << "the end of the pipe is seen";
  close(ends[0]);
}

}  // namespace
}  // namespace holdfast::launch
