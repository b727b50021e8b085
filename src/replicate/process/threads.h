#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <limits>

namespace holdfast::replicate {

void say_point();  // answers.h

/// Where MPI_THREAD_MULTIPLE was granted, threads take turns: one at a time works on the library's state, from a hook's
/// entry to its end, and lets the others in while it waits or is inside a call of MPI that waits for other processes
/// (docs/design/threads.md). Turns come in the order of asking, so that a thread that waits by testing keeps nobody
/// out, and whose turn it is not sleeps: on crowded cores threads that spin keep the one from running that they wait
/// for, of their own process and of others.
class Turnstile {
 public:
  void enter() {
    const std::uint32_t mine = next_.fetch_add(1);
    Place& place = places_[mine % most_apart];
    for (std::uint32_t now = place.load(); now != mine; now = place.load()) sleep_while(place, now);
  }
  void leave() {
    Place& place = places_[++now_ % most_apart];
    place.store(now_);
    if (next_.load() != now_) wake(place);  // in one order with enter(), which adds first and looks then
  }

 private:
  using Place = std::atomic<std::uint32_t>;
  static_assert(sizeof(Place) == sizeof(std::uint32_t) && Place::is_always_lock_free, "futex(2) takes its address");
  static constexpr std::uint32_t most_apart = 64;  ///< threads that wait in places of their own; more share them

  // Not std::atomic's own, which calls sched_yield() before it sleeps: there a thread falls behind all that run.
  static void sleep_while(Place& place, std::uint32_t value) {
    ::syscall(SYS_futex, &place, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
  }
  static void wake(Place& place) {
    ::syscall(SYS_futex, &place, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> next_{most_apart};
  std::uint32_t now_ = most_apart;        ///< the turn's, written by the thread that has it
  Place places_[most_apart]{most_apart};  ///< the last turn that was called at each
};

struct Threads {
  std::atomic<bool> many{false};      ///< MPI_THREAD_MULTIPLE was granted; set before the second thread can call
  std::atomic<bool> in_order{false};  ///< they go in the leader's order (thread_order.h); only with `many`
  Turnstile turnstile;
};
inline constinit Threads threads;

inline bool many_threads() {
  return threads.many.load(std::memory_order_relaxed);
}

inline bool threads_in_order() {
  return threads.in_order.load(std::memory_order_relaxed);
}

[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool in_turn = false;

/// Its thread's turn, unless it has it already.
class Turn {
 public:
  Turn() : taken_(many_threads() && !in_turn) {
    if (!taken_) return;
    threads.turnstile.enter();
    in_turn = true;
  }
  ~Turn() {
    if (!taken_) return;
    in_turn = false;
    threads.turnstile.leave();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool taken_;
};

/// Lets the other threads in for its lifetime.
class OthersTurn {
 public:
  OthersTurn() : given_(in_turn) {
    if (!given_) return;
    in_turn = false;
    threads.turnstile.leave();
  }
  ~OthersTurn() {
    if (!given_) return;
    threads.turnstile.enter();
    in_turn = true;
  }
  OthersTurn(const OthersTurn&) = delete;
  OthersTurn& operator=(const OthersTurn&) = delete;

 private:
  bool given_;
};

/// A call of MPI that waits for no process that is not in it, or about to be.
template <class Call>
auto call_in_others_turn(Call call) {
  const OthersTurn others;
  return call();
}

/// A call of MPI that may wait for other processes.
template <class Call>
auto call_that_waits(Call call) {
  say_point();
  return call_in_others_turn(call);
}

/// What names the order in which a thread asks, alike in all replicas: its name where threads go in the leader's order
/// (thread_order.h), else the channel of its last call; and how many calls it has made.
struct Asker {
  std::uint64_t order = 0;  ///< answers are repeated within it
  std::uint32_t calls = 0;
  std::uint64_t channels = 0;  ///< of all its calls, in their order; where threads are told apart by them
  std::uint64_t points = 0;    ///< where the replicas agreed, in calls and in decisions (answers.h)
  std::int32_t thread = 0;     ///< the kernel's number of this one, once it was asked for
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Asker asking{};

/// Of many threads, those without a name that replicas agree on are told apart by what their calls are about.
inline bool asked_by_channel() {
  return many_threads() && !threads_in_order();
}

}  // namespace holdfast::replicate
