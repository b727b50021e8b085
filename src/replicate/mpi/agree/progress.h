#pragma once

#include <optional>

#include "replicate/mpi/agree/idle_tests.h"
#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

/// Looks once at everything that can move without the application: departures, records and copies that have come, and
/// what the rooms above advance (looks.h). Never blocks.
void progress();

/// After so many fruitless looks at the world: gives other threads their turn, and the core to other processes where
/// they outnumber the cores. By sched_yield at first, which reaches no process of another session where the kernel
/// schedules sessions as groups (sched(7), autogroup); MPICH's launcher gives each process a session of its own, so
/// there a longer wait sleeps between looks. Where several threads communicate every wait sleeps: a thread that yields
/// may fall behind all else that runs (docs/design/threads.md).
void give_way(unsigned looks);

/// Before the first look of a wait: where processes outnumber the cores, a message of the application that is not here
/// comes from a process that has the core after this one has given it away. What another replica says may be here,
/// unread; so whoever waits for that looks first.
void give_way_to_sender();

/// Waits by testing, never inside MPI, so that this replica answers the others while it waits: ready() is asked after
/// every look at the world. Where processes outnumber cores the core is given away between looks. Ends the job with a
/// diagnosis when another replica stays silent past the limit (watch.h).
template <class Ready>
void wait_until(Ready ready) {
  const KeepCoreInTests keep;
  if (ready()) return;
  give_way_to_sender();
  std::optional<Watch> watch;
  for (unsigned looks = 1;; ++looks) {
    progress();
    if (ready()) return;
    give_way(looks);
    if (looks % 64 != 0) continue;
    if (!watch) watch.emplace();
    watch->look();
  }
}

}  // namespace holdfast::replicate
