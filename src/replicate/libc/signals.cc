// What the program does when a signal comes (process/program_signals.h).
#include <signal.h>

#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/program_signals.h"

namespace holdfast::replicate {

namespace {

/// Whether the program's handler of it is put off: not of what MPI and Holdfast set for themselves.
bool is_programs(int number) {
  return depth == 0 && is_put_off(number);
}

sighandler_t set_by_signal(int number, sighandler_t handler, int flags) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return set_program_action(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int sigaction(int number, const struct sigaction* action,
                                             struct sigaction* before) noexcept {
  return hr::is_programs(number) ? hr::set_program_action(number, action, before)
                                 : hr::librarys_own().sigaction(number, action, before);
}

/// As BSD's: the handler stays, and calls of the system that it interrupts go on.
[[gnu::visibility("default")]] sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (hr::is_programs(number)) return hr::set_by_signal(number, handler, SA_RESTART);
  return hr::librarys_own().signal(number, handler);
}

/// As System V's, which programs get that are compiled for nothing but X/Open: once, and calls are interrupted.
[[gnu::visibility("default")]] sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  constexpr int once = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  if (hr::is_programs(number)) return hr::set_by_signal(number, handler, once);
  return hr::librarys_own().sysv_signal(number, handler);
}

}  // extern "C"
