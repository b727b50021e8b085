#include "replicate/process/asleep.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/time/nanoseconds.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

enum class Doing { runs, sleeps, waits_for_thread };

bool is_turnstile(std::uintptr_t address) {
  const auto own = reinterpret_cast<std::uintptr_t>(&threads.turnstile);
  return address >= own && address < own + sizeof threads.turnstile;
}

/// A line of proc(5): the system call's number and its arguments, or "running".
Doing doing_in(const char* line) {
  char* end = nullptr;
  const long call = std::strtol(line, &end, 10);
  if (end == line) return Doing::runs;
  if (call != SYS_futex) return Doing::sleeps;
  unsigned long address = 0;
  unsigned long operation = 0;
  unsigned long timeout = 0;
  if (std::sscanf(end, "%lx %lx %*x %lx", &address, &operation, &timeout) != 3 || is_turnstile(address))
    return Doing::runs;
  const unsigned long command = operation & FUTEX_CMD_MASK;
  const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI;
  return waits && timeout == 0 ? Doing::waits_for_thread : Doing::sleeps;
}

Doing doing(const char* thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%s/syscall", thread);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return Doing::runs;
  char line[256];
  const ssize_t length = ::read(file, line, sizeof line - 1);
  ::close(file);
  if (length <= 0) return Doing::runs;
  line[length] = '\0';
  return doing_in(line);
}

}  // namespace

bool waits_for_thread(pid_t thread) {
  char name[16]{};
  std::to_chars(name, name + sizeof name - 1, thread);
  return doing(name) == Doing::waits_for_thread;
}

std::int64_t processor_time_ns(pid_t thread) {
  // As the kernel numbers the clocks of other threads (clock_getcpuclockid(3) has none for them).
  constexpr unsigned scheduler_time_of_thread = 6;
  timespec used{};
  if (real_clock_gettime(static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | scheduler_time_of_thread),
                         &used) != 0)
    return 0;
  return time::in_ns(used);
}

bool others_sleep() {
  DIR* const threads_now = ::opendir("/proc/self/task");
  if (!threads_now) return false;
  char own[16]{};
  std::to_chars(own, own + sizeof own - 1, ::syscall(SYS_gettid));
  bool sleep = true;
  while (const dirent* const entry = ::readdir(threads_now)) {
    if (entry->d_name[0] == '.' || std::strcmp(entry->d_name, own) == 0) continue;
    if (doing(entry->d_name) == Doing::runs) sleep = false;
  }
  ::closedir(threads_now);
  return sleep;
}

}  // namespace holdfast::replicate
