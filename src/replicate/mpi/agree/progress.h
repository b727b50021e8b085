#pragma once

#include <optional>

#include "replicate/mpi/agree/give_way.h"
#include "replicate/mpi/agree/idle_tests.h"
#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

/// Looks once at everything that can move without the application: departures, records and copies that have come, and
/// what the rooms above advance (looks.h). Never blocks.
void progress();

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
