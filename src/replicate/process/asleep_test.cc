#include "replicate/process/asleep.h"

#include <gtest/gtest.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "replicate/process/threads.h"

namespace holdfast::replicate {
namespace {

/// A thread that does that, from when its number is known.
class Other {
 public:
  explicit Other(const std::function<void()>& what)
      : thread_([this, what] {
          number_ = static_cast<pid_t>(::syscall(SYS_gettid));
          what();
        }) {
    while (number_ == 0) std::this_thread::yield();
  }
  ~Other() { thread_.join(); }
  pid_t number() const { return number_; }

 private:
  std::atomic<pid_t> number_{0};
  std::thread thread_;
};

/// As the kernel needs a moment to put a thread to sleep.
bool soon(const std::function<bool()>& is_so) {
  for (int looks = 0; looks < 10'000; ++looks) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(Asleep, ToldOfAThreadThatAnotherMustWake) {
  sem_t wake;
  sem_init(&wake, 0, 0);
  {
    const Other other([&] { sem_wait(&wake); });
    EXPECT_TRUE(soon([&] { return waits_for_thread(other.number()); }));
    EXPECT_TRUE(soon([] { return others_sleep(); }));
    const std::int64_t used = processor_time_ns(other.number());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(processor_time_ns(other.number()), used);
    EXPECT_GT(used, 0);
    sem_post(&wake);
  }
  sem_destroy(&wake);
}

TEST(Asleep, NotToldOfOneThatWakesByItself) {
  std::atomic<bool> end{false};
  const Other other([&] {
    while (!end) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  EXPECT_TRUE(soon([] { return others_sleep(); }));
  for (int looks = 0; looks < 200; ++looks) EXPECT_FALSE(waits_for_thread(other.number()));
  end = true;
}

TEST(Asleep, NotToldOfOneThatRuns) {
  std::atomic<bool> end{false};
  const Other other([&] {
    while (!end) continue;
  });
  for (int looks = 0; looks < 200; ++looks) {
    EXPECT_FALSE(waits_for_thread(other.number()));
    EXPECT_FALSE(others_sleep());
  }
  EXPECT_TRUE(soon([&] { return processor_time_ns(other.number()) > 1'000'000; }));
  end = true;
}

TEST(Asleep, NotToldOfOneThatWaitsForItsTurn) {
  threads.turnstile.enter();
  {
    const Other other([] {
      threads.turnstile.enter();
      threads.turnstile.leave();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(waits_for_thread(other.number()));
    EXPECT_FALSE(others_sleep());
    threads.turnstile.leave();
  }
}

TEST(Asleep, NotToldOfAThreadThatIsNotThere) {
  EXPECT_FALSE(waits_for_thread(1));
  EXPECT_EQ(processor_time_ns(0x7ffffff), 0);
}

}  // namespace
}  // namespace holdfast::replicate
