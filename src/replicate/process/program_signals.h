#pragma once

#include <signal.h>

#include <cstdint>

namespace holdfast::replicate {

/// Signals that come from outside while the program runs, such as SIGUSR1 before its time is over, or SIGALRM of a
/// timer of its own, reach the replicas of a rank at different points. A handler that sets a flag would make them part.
/// So it is not called when the signal comes, but at the end of a collective call, where the leader says so in its
/// ballot (mpi/collective/collective.cc); and at once where no such call ends within the signal's patience, since the
/// program may be waiting for it. Signals that the process sends itself are never put off, and none of a fault or a
/// child.

/// Whether the program's handlers of that signal are.
bool is_put_off(int number);

using SetAction = int (*)(int number, const struct sigaction* action, struct sigaction* before);
using SetSignalHandler = sighandler_t (*)(int number, sighandler_t handler);

/// The C library's functions of these names. The loader is asked for them once, before the program has a handler:
/// handlers set themselves again, perhaps while the loader is at work.
struct LibrarysOwn {
  SetAction sigaction;
  SetSignalHandler signal;
  SetSignalHandler sysv_signal;
};
LibrarysOwn librarys_own() noexcept;

/// sigaction() of such a signal, as the program calls it. Signal-safe.
int set_program_action(int number, const struct sigaction* action, struct sigaction* before) noexcept;

/// From MPI_Init to MPI_Finalize of a rank with several replicas, in this process and not in its children.
void put_off_signals(bool put_off);

/// One that has come, whose handler is still to be called: at the end of the present call, from now on. What the leader
/// says of it: in the lower five bits its number, above them how many of these calls of its handler there have been
/// with this one, modulo 8. 0: none.
std::uint8_t take_waiting_signal();
/// The leader says that the handler of this one is called at the end of the present call: on the thread that called
/// MPI_Init, in all replicas, whether the signal has come here or not; but not where it has been called for it, because
/// the signal's patience was over.
void call_handler_after_call(std::uint8_t named);
/// Calls it, if there is one. Outside Holdfast.
void end_call();

/// The first member of what a call of MPI is in: its end is the call's.
class CallsHandlers {
 public:
  CallsHandlers() = default;
  ~CallsHandlers() {
    if (due) end_call();
  }
  CallsHandlers(const CallsHandlers&) = delete;
  CallsHandlers& operator=(const CallsHandlers&) = delete;

  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local std::uint8_t due =
      0;  ///< what the leader says
};

}  // namespace holdfast::replicate
