#include "replicate/launch/supervise/guardian.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
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

/// A shell script that plays the launcher, under a `holdfast run` with several threads, which is killed.
class GuardianOfAKilledParent : public testing::Test {
 protected:
  void kill_while_running(const std::string& script, milliseconds grace) {
    const pid_t parent = fork();
    if (parent == 0) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 8; ++i) threads.emplace_back([] { pause(); });
      SignalWatch watch;
      SuperviseOptions options;
      options.grace = grace;
      (void)supervise({{"/bin/sh", "-c", "cd " + scratch_.path() + "\necho $$ > pid\n" + script}, {}}, watch, options);
      _exit(0);
    }
    ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(scratch_.file("ready")); }));
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
  }
  std::string read(const std::string& base) const {
    std::ifstream file(scratch_.file(base));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool launcher_is_gone() const { return kill(std::stoi(read("pid")), 0) != 0; }

  scratch::ScratchFolder scratch_;
};

TEST_F(GuardianOfAKilledParent, SendsOneSignal) {
  kill_while_running("trap 'echo term >> terms' TERM; touch ready; while [ ! -e over ]; do sleep 0.01; done",
                     std::chrono::seconds(60));
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(scratch_.file("terms")); }));
  std::this_thread::sleep_for(milliseconds(100));  // for a second one, which must not come
  EXPECT_EQ(read("terms"), "term\n");
  std::ofstream(scratch_.file("over"));
  EXPECT_TRUE(comes_true([&] { return launcher_is_gone(); }));
}

TEST_F(GuardianOfAKilledParent, EndsALauncherThatIgnoresIt) {
  kill_while_running("trap '' TERM; touch ready; while :; do sleep 0.01; done", milliseconds(50));
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
