#include "replicate/mpi/agree/survivors.h"

#include <algorithm>
#include <string>

#include "replicate/mpi/io/file.h"
#include "replicate/mpi/life/failure.h"
#include "replicate/mpi/life/runtime.h"
#include "replicate/mpi/onesided/lock_sequencer.h"
#include "replicate/mpi/onesided/window.h"
#include "replicate/process/liveness.h"

namespace holdfast::replicate {

namespace {

std::size_t noticed = 0;

[[noreturn]] void cannot_take_over(const std::string& what) {
  fail(Incident::diverged, "replica " + std::to_string(runtime().leading) + ", which led, died while rank " +
                               std::to_string(runtime().rank) + " had " + what +
                               ": no other replica can take that over, so the job ends");
}

/// What the leader alone holds in its hands.
void require_nothing_in_hand() {
  if (files().live() > 0) cannot_take_over("a file open through MPI-IO, which the leader alone writes");
  if (windows().live() > 0 && lock_order_was_taken())
    cannot_take_over("a window with lock epochs, whose order the leader's world decides");
}

void take_out(int replica) {
  Runtime& state = runtime();
  if (!state.here(replica)) return;
  state.gone[static_cast<std::size_t>(replica)] = 1;
  --state.present;
  for (int rank = 0; rank < state.ranks; ++rank) state.control.forget(state.map->physical_rank(rank, replica));
  state.host.forget_copies_from(replica);
  if (replica == state.leading) {
    require_nothing_in_hand();
    state.leading = static_cast<int>(std::find(state.gone.begin(), state.gone.end(), 0) - state.gone.begin());
  }
  state.engine->peer_gone(replica);
}

}  // namespace

void notice_departures() {
  if (!runtime().survives) return;
  for (; noticed < departures(); ++noticed) take_out(departed(noticed));
}

}  // namespace holdfast::replicate
