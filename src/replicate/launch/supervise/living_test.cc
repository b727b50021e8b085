#include "replicate/launch/supervise/living.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace holdfast::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

pid_t start(const char* job, const char* rank, const char* launched = "NOTHING=") {
  const pid_t child = fork();
  if (child != 0) return child;
  const std::string own_job = std::string("HOLDFAST_RUN_JOB=") + job;
  execl("/usr/bin/env", "env", own_job.c_str(), rank, launched, "sleep", "1000", nullptr);
  _exit(127);
}

TEST(LivingProcesses, OfThisJobUntilTheyEnd) {
  const pid_t one = start("this", "OMPI_COMM_WORLD_RANK=3");
  const pid_t two = start("this", "PMI_RANK=12");
  const pid_t other = start("other", "PMI_RANK=1");
  while (living_processes("this").size() < 2 || living_processes("other").empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_THAT(living_processes("this"), ElementsAre(3, 12));
  kill(one, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(one), &ended, WEXITED | WNOWAIT);
  EXPECT_THAT(living_processes("this"), ElementsAre(12)) << "one that nobody has collected is dead";
  for (const pid_t pid : {two, other}) kill(pid, SIGKILL);
  for (const pid_t pid : {one, two, other}) waitpid(pid, nullptr, 0);
  EXPECT_THAT(living_processes("this"), IsEmpty());
}

TEST(LivingProcesses, AChildOfTheProgramIsOfTheProcessThatTheLauncherStarted) {
  const pid_t child =
      start("this", "OMPI_COMM_WORLD_RANK=1", "HOLDFAST_RUN_LAUNCHED=PMIX_RANK=7=1 OMPI_COMM_WORLD_RANK=5=1 ");
  while (living_processes("this").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_THAT(living_processes("this"), ElementsAre(5));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace holdfast::launch
