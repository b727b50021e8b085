#include "replicate/mpi/agree/thread_order.h"

#include <algorithm>
#include <chrono>
#include <semaphore>
#include <vector>

#include "replicate/mpi/agree/catch_up.h"
#include "replicate/mpi/agree/thread_name.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

struct Resting {
  std::uint64_t thread;
  std::counting_semaphore<> woken{0};
};
std::vector<Resting*> resting;
std::uint64_t looks = 0;  ///< the thread that looks what the leader says next; 0: none

/// So long a process may leave others without an answer whose threads all rest.
constexpr std::chrono::milliseconds longest_rest{5};

}  // namespace

void rest_until_turn(NextTurn next) {
  if (next == NextTurn::unsaid && looks == 0) looks = asking.order;
  if (next == NextTurn::unsaid && looks == asking.order) return;
  look_no_longer();
  Resting here{asking.order};
  resting.push_back(&here);
  {
    const OthersTurn others;
    (void)here.woken.try_acquire_for(longest_rest);
  }
  std::erase(resting, &here);
}

void look_no_longer() {
  if (looks == asking.order) looks = 0;
}

void wake_for_turn(std::uint64_t thread) {
  if (thread == 0 && looks != 0) return;
  const auto found = std::find_if(resting.begin(), resting.end(),
                                  [&](const Resting* each) { return thread == 0 || each->thread == thread; });
  if (found != resting.end()) (*found)->woken.release();
}

void ask_by_name() {
  if (asking.order != 0) return;
  asking.order = thread_name().name;
  if (asking.order == 0)
    fail(Incident::refused,
         "a thread calls MPI that the program has not made by pthread_create or thrd_create: --same-thread-order has "
         "no name for it: make it by one of them, or leave that option out");
}

void order_threads() {
  ask_by_name();
  threads.in_order.store(true);
}

void InCall::take_place() {
  if (next_turn() == NextTurn::here) let_followers_catch_up();
  wait_in_order([] { return true; });
}

}  // namespace holdfast::replicate
