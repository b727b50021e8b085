#include "replicate/mpi/agree/give_way.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

/// Whether the processes that the launcher starts have sessions of their own.
bool own_sessions() {
  return !is_open_mpi();
}

void sleep_shortly() {
  const timespec shortest{0, 1};                 // and what the kernel adds to it: 50 us, unless told otherwise
  ::syscall(SYS_nanosleep, &shortest, nullptr);  // no sleep of the program's, by which standing clocks would go on
}

}  // namespace

void give_way_inside(unsigned looks) {
  constexpr unsigned most_yields = 32;
  if (looks > most_yields && own_sessions()) return sleep_shortly();
  sched_yield();
}

void give_way(unsigned looks) {
  constexpr unsigned free_looks = 256;
  const bool crowded = runtime().crowded;
  if (many_threads()) {
    const OthersTurn others;
    if (crowded) sleep_shortly();
    return;
  }
  if (crowded) return give_way_inside(looks);
  if (looks > free_looks) sched_yield();
}

void give_way_to_sender() {
  if (runtime().crowded && waits_for_own_world() && !many_threads()) sched_yield();
}

}  // namespace holdfast::replicate
