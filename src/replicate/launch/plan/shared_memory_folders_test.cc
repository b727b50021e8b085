#include "replicate/launch/plan/shared_memory_folders.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

TEST(SharedMemoryFolders, OfTwoJobsHaveTwoNames) {
  EXPECT_NE(shared_memory_folders(1), shared_memory_folders(2));
  EXPECT_EQ(fs::path(shared_memory_folders(1)).parent_path(), "/dev/shm");
}

TEST(SharedMemoryFolders, AreRemovedWithWhatIsInThemAndNothingElseIs) {
  std::string pattern = testing::TempDir() + "holdfast-windows-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::string prefix = pattern + "/job";
  fs::create_directory(prefix + "-1");
  std::ofstream(prefix + "-1/window") << "x";
  fs::create_directory(prefix + "-2");
  remove_shared_memory_folders(prefix, 2);
  EXPECT_FALSE(fs::exists(prefix + "-1"));
  EXPECT_TRUE(fs::exists(prefix + "-2"));
  fs::remove_all(pattern);
}

/// What a replica calls number 7, 8 and 10, and a queue with a name.
struct Numbered {
  explicit Numbered(const std::string& folder)
      : segment(::shmget(IPC_PRIVATE, 4096, 0600)),
        semaphores(::semget(IPC_PRIVATE, 1, 0600)),
        messages(::msgget(IPC_PRIVATE, 0600)),
        queue("/" + fs::path(folder).filename().string() + ".queue-" + std::to_string(getpid())) {
    fs::create_directory(folder);
    ::mq_close(::mq_open(queue.c_str(), O_CREAT | O_RDONLY, 0600, nullptr));
    fs::create_symlink(queue, folder + "/queue.queue");
    fs::create_symlink(std::to_string(messages), folder + "/msg-10");
    fs::create_symlink(std::to_string(segment), folder + "/shm-7");
    fs::create_symlink(std::to_string(semaphores), folder + "/sem-8");
    fs::create_symlink("nothing", folder + "/shm-9");
  }
  ~Numbered() {
    (void)::shmctl(segment, IPC_RMID, nullptr);
    (void)::semctl(semaphores, 0, IPC_RMID);
    (void)::msgctl(messages, IPC_RMID, nullptr);
    (void)::mq_unlink(queue.c_str());
  }
  /// How many of the semaphores and the two queues.
  int there() const {
    msqid_ds status{};
    const mqd_t opened = ::mq_open(queue.c_str(), O_RDONLY);
    if (opened >= 0) ::mq_close(opened);
    return (::semctl(semaphores, 0, GETVAL) >= 0) + (::msgctl(messages, IPC_STAT, &status) == 0) + (opened >= 0);
  }
  bool segment_there() const {
    shmid_ds status{};
    return ::shmctl(segment, IPC_STAT, &status) == 0;
  }
  int segment, semaphores, messages;
  std::string queue;
};

TEST(SharedMemoryFolders, WhatReplicasHaveByNumbersAndNamesGoesWithThem) {
  const scratch::ScratchFolder place;
  const std::string prefix = place.file("holdfast-0-0123456789abcdef");
  const Numbered left(prefix + "-1"), others(place.file("holdfast-others"));
  for (const char* name : {"sem.holdfast-0-0123456789abcdef-1.a", "sem.a", "sem.holdfast-0-1123456789abcdef-1.a"})
    std::ofstream(place.file(name)) << "x";
  remove_shared_memory_folders(prefix, 2);
  EXPECT_EQ(left.there(), 0);
  EXPECT_FALSE(left.segment_there());
  EXPECT_EQ(others.there(), 3);
  EXPECT_TRUE(others.segment_there());
  EXPECT_FALSE(fs::exists(place.file("sem.holdfast-0-0123456789abcdef-1.a")));
  EXPECT_TRUE(fs::exists(place.file("sem.a")) && fs::exists(place.file("sem.holdfast-0-1123456789abcdef-1.a")));
}

TEST(SharedMemoryFolders, AQueueThatIsNotOfThisJobStays) {
  const scratch::ScratchFolder place;
  const Numbered others(place.file("others-0"));
  fs::create_directory(place.file("job-0"));
  fs::create_symlink(others.queue, place.file("job-0") + "/queue.queue");
  remove_shared_memory_folders(place.file("job"), 1);
  EXPECT_EQ(others.there(), 3);
}

TEST(SharedMemoryFolders, ASegmentThatSomebodyIsAttachedToStays) {
  const scratch::ScratchFolder place;
  const Numbered left(place.file("job-0"));
  void* const attached = ::shmat(left.segment, nullptr, 0);
  remove_shared_memory_folders(place.file("job"), 1);
  EXPECT_TRUE(left.segment_there());
  ::shmdt(attached);
}

TEST(SharedMemoryFolders, OfKilledJobsTooGoWithThem) {
  const scratch::ScratchFolder place;
  const std::string own = "holdfast-" + std::to_string(getuid()) + "-4123456789abcdef-1";
  const Numbered left(place.file(own));
  std::ofstream(place.file("sem." + own + ".a")) << "x";
  std::ofstream(place.file("sem.holdfast-notes")) << "x";
  remove_left_shared_memory_folders(place.path());
  EXPECT_EQ(left.there(), 0);
  EXPECT_FALSE(left.segment_there());
  EXPECT_FALSE(fs::exists(place.file("sem." + own + ".a")));
  EXPECT_TRUE(fs::exists(place.file("sem.holdfast-notes")));
}

TEST(SharedMemoryFolders, LeftBehindAreRemovedUnlessSomebodyHoldsThem) {
  std::string place = testing::TempDir() + "holdfast-windows-XXXXXX";
  ASSERT_NE(mkdtemp(place.data()), nullptr);
  const std::string own = "/holdfast-" + std::to_string(getuid()) + "-";
  const std::string left = place + own + "0123456789abcdef-1";
  const std::string held = place + own + "1123456789abcdef-0";
  const std::string told = place + own + "2123456789abcdef-0";
  const std::string link = place + own + "3123456789abcdef-0";
  const std::string others = place + "/holdfast-notes";
  const std::string another = place + "/holdfast-99999-0123456789abcdef-1";
  for (const std::string& folder : {left, held, told, others, another}) {
    fs::create_directory(folder);
    std::ofstream(folder + "/window") << "x";
  }
  fs::create_directory_symlink(others, link);
  const int lock = ::open(held.c_str(), O_RDONLY | O_DIRECTORY);
  ::flock(lock, LOCK_SH);
  const pid_t child = fork();
  if (child == 0) {
    const std::string variable = "HOLDFAST_RUN_SHARED_MEMORY=" + told.substr(0, told.size() - 2);
    execl("/usr/bin/env", "env", variable.c_str(), "sleep", "1000", nullptr);
    _exit(127);
  }
  for (bool sleeps = false; !sleeps; usleep(1000)) {
    std::ifstream name("/proc/" + std::to_string(child) + "/comm");
    std::string text;
    sleeps = static_cast<bool>(name >> text) && text == "sleep";
  }
  remove_left_shared_memory_folders(place);
  EXPECT_FALSE(fs::exists(left));
  for (const std::string& folder : {held, told, others, another}) EXPECT_TRUE(fs::exists(folder + "/window")) << folder;
  ::close(lock);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  remove_left_shared_memory_folders(place);
  EXPECT_FALSE(fs::exists(held));
  EXPECT_FALSE(fs::exists(told));
  EXPECT_TRUE(fs::exists(others + "/window"));
  fs::remove_all(place);
}

}  // namespace
}  // namespace holdfast::launch
