#pragma once

#include <string>

#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/program_signals.h"

namespace holdfast::replicate {

/// With --same-thread-order the threads of every replica go on in the order of the leader's, as in the replay of a
/// recorded run (docs/design/threads.md): a call of MPI has a turn at its beginning, in which it does what depends on
/// order (takes the next number of a channel, posts a receive), up to where it first waits. The leader says whose turn
/// it was; a thread of a follower waits until the turns before its own have been taken.

/// Begins that, for a program whose threads all call MPI. Called by the thread that calls MPI_Init_thread, while it is
/// alone.
void order_threads();

/// A thread that waits for its turn sleeps: only one of a process looks what the leader says next. Others in turn
/// (threads.h) go on meanwhile.
void rest_until_turn(NextTurn next);
/// The present thread is not the one that looks, any more.
void look_no_longer();
/// That thread's turn is next, or, of 0, nobody knows whose.
void wake_for_turn(std::uint64_t thread);

/// Waits until `ready` and takes a turn at that moment, in which the caller is until it next waits. Without an order of
/// threads: waits until `ready`.
template <class Ready>
void wait_in_order(Ready ready) {
  if (!threads_in_order()) return wait_until(ready);
  bool told = false;
  wait_until([&] {
    const NextTurn next = next_turn();
    told = next == NextTurn::own;
    if (told || next == NextTurn::here) return ready();
    rest_until_turn(next);
    return false;
  });
  look_no_longer();
  told ? take_turn() : publish_turn();
}

/// Names the calling thread to those that it asks (decide.cc); ends the job where it has no name.
void ask_by_name();

/// Whether the order of such calls matters. Not where they ask for or complete what other calls began: a program that
/// polls makes many of them, and the answers are the same for the same thread. A probe's turn is that in which it
/// finds.
constexpr bool has_turn(Function function) {
  switch (function) {
    case Function::Wait:
    case Function::Waitall:
    case Function::Waitany:
    case Function::Waitsome:
    case Function::Test:
    case Function::Testall:
    case Function::Testany:
    case Function::Testsome:
    case Function::Request_get_status:
    case Function::Request_get_status_all:
    case Function::Request_get_status_any:
    case Function::Request_get_status_some:
    case Function::Request_free:
    case Function::Cancel:
    case Function::Probe:
    case Function::Iprobe:
    case Function::Mprobe:
    case Function::Improbe:
    case Function::Mrecv:
    case Function::Imrecv:
    case Function::Wtime:
    case Function::Finalize:
    case Function::Parrived:
      return false;
    default:
      return true;
  }
}

/// What a call that the program makes of MPI is in: as Inside, and in its place among those of all threads.
class InCall {
 public:
  explicit InCall(Function function) : outermost_(threads_in_order() && !in_call) {
    if (!outermost_) return;
    in_call = true;
    ask_by_name();
    if (has_turn(function)) take_place();
  }
  ~InCall() {
    if (outermost_) in_call = false;
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  static void take_place();

  /// A function of the program's that MPI calls back may call MPI: part of the call that it is in.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool in_call = false;
  CallsHandlers handlers_;
  Inside inside_;
  bool outermost_;
};

}  // namespace holdfast::replicate
