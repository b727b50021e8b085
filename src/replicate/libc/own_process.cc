// Calls that take the number of a process or of a thread: the one that the program was told for its own (identity.h) is
// not known to the kernel, and stands for the real one.
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "replicate/libc/files.h"
#include "replicate/libc/identity.h"
#include "replicate/process/program.h"

namespace holdfast::replicate {

namespace {

/// The process's number is its first thread's as well.
pid_t real_number(pid_t number) {
  constexpr pid_t lowest = 1 << 30;  // of those that are told, and above all of the kernel's
  return number >= lowest && number == agreed_process_id() ? real_process_id() : number;
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

/// A negative number is that of a process group.
[[gnu::visibility("default")]] int kill(pid_t process, int signal) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, int)>("kill");
  return real(process < -1 ? -hr::real_number(-process) : hr::real_number(process), signal);
}

[[gnu::visibility("default")]] int tgkill(pid_t process, pid_t thread, int signal) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, pid_t, int)>("tgkill");
  return real(hr::real_number(process), hr::real_number(thread), signal);
}

[[gnu::visibility("default")]] int sched_setaffinity(pid_t thread, std::size_t size, const cpu_set_t* set) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, std::size_t, const cpu_set_t*)>("sched_setaffinity");
  return real(hr::real_number(thread), size, set);
}

[[gnu::visibility("default")]] int sched_getaffinity(pid_t thread, std::size_t size, cpu_set_t* set) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, std::size_t, cpu_set_t*)>("sched_getaffinity");
  return real(hr::real_number(thread), size, set);
}

[[gnu::visibility("default")]] int sched_setscheduler(pid_t thread, int policy, const sched_param* how) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, int, const sched_param*)>("sched_setscheduler");
  return real(hr::real_number(thread), policy, how);
}

[[gnu::visibility("default")]] int sched_getscheduler(pid_t thread) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t)>("sched_getscheduler");
  return real(hr::real_number(thread));
}

[[gnu::visibility("default")]] int sched_setparam(pid_t thread, const sched_param* how) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, const sched_param*)>("sched_setparam");
  return real(hr::real_number(thread), how);
}

[[gnu::visibility("default")]] int sched_getparam(pid_t thread, sched_param* how) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, sched_param*)>("sched_getparam");
  return real(hr::real_number(thread), how);
}

[[gnu::visibility("default")]] int getpriority(__priority_which_t which, id_t whose) noexcept {
  static const auto real = hr::next_function<int (*)(int, id_t)>("getpriority");
  return real(static_cast<int>(which), static_cast<id_t>(hr::real_number(static_cast<pid_t>(whose))));
}

[[gnu::visibility("default")]] int setpriority(__priority_which_t which, id_t whose, int priority) noexcept {
  static const auto real = hr::next_function<int (*)(int, id_t, int)>("setpriority");
  return real(static_cast<int>(which), static_cast<id_t>(hr::real_number(static_cast<pid_t>(whose))), priority);
}

[[gnu::visibility("default")]] pid_t getpgid(pid_t process) noexcept {
  static const auto real = hr::next_function<pid_t (*)(pid_t)>("getpgid");
  return real(hr::real_number(process));
}

[[gnu::visibility("default")]] pid_t getsid(pid_t process) noexcept {
  static const auto real = hr::next_function<pid_t (*)(pid_t)>("getsid");
  return real(hr::real_number(process));
}

[[gnu::visibility("default")]] int setpgid(pid_t process, pid_t group) noexcept {
  static const auto real = hr::next_function<int (*)(pid_t, pid_t)>("setpgid");
  return real(hr::real_number(process), hr::real_number(group));
}

}  // extern "C"
