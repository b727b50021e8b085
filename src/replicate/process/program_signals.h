#pragma once

#include <signal.h>

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

/// sigaction() of such a signal, as the program calls it; `set` is the C library's. Signal-safe.
int set_program_action(SetAction set, int number, const struct sigaction* action, struct sigaction* before) noexcept;

/// From MPI_Init to MPI_Finalize of a rank with several replicas, in this process and not in its children.
void put_off_signals(bool put_off);

/// One that has come, whose handler is still to be called: at the end of the present call, from now on. 0: none.
int take_waiting_signal();
/// The leader says that the handler of this one is called at the end of the present call: on the thread that called
/// MPI_Init, in all replicas, whether the signal has come here or not.
void call_handler_after_call(int number);
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

  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local int due = 0;  ///< a signal
};

}  // namespace holdfast::replicate
