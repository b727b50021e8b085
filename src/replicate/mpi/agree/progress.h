#pragma once

#include "replicate/mpi/agree/idle_tests.h"
#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/life/runtime.h"

namespace holdfast::replicate {

/// Looks once at everything that can move without the application: arrived records, corrections, wildcard receives,
/// receives that became placeable, non-blocking collectives, requests that the application freed. Never blocks.
void progress();

/// Adds an operation to those that progress() advances even while the application waits for something else.
void watch_in_background(Operation& op);
void forget_in_background(Operation& op);

/// Moves one operation as far as it goes now; true when it is complete. Callable again after completion.
bool advance(Operation& op);

/// After so many fruitless looks at the world: gives other threads their turn, and the core to other processes where
/// they outnumber the cores. By sched_yield at first, which reaches no process of another session where the kernel
/// schedules sessions as groups (sched(7), autogroup); MPICH's launcher gives each process a session of its own, so
/// there a longer wait sleeps between looks. Where several threads communicate every wait sleeps: a thread that yields
/// may fall behind all else that runs (docs/design/threads.md).
void give_way(unsigned looks);

/// Waits by testing, never inside MPI, so that this replica answers the others while it waits: ready() is asked after
/// every look at the world. Where processes outnumber cores the core is given away between looks. Ends the job with a
/// diagnosis when another replica stays silent past the limit (watch.h).
template <class Ready>
void wait_until(Ready ready) {
  const KeepCoreInTests keep;
  if (ready()) return;
  Watch watch;
  for (unsigned looks = 1;; ++looks) {
    progress();
    if (ready()) return;
    give_way(looks);
    if (looks % 64 == 0) watch.look();
  }
}

}  // namespace holdfast::replicate
