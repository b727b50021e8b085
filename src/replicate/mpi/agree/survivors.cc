#include "replicate/mpi/agree/survivors.h"

#include <algorithm>
#include <string>

#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/looks.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/liveness.h"

namespace holdfast::replicate {

namespace {

std::size_t noticed = 0;

[[noreturn]] void cannot_take_over(const char* what) {
  fail(Incident::diverged, "replica " + std::to_string(runtime().leading) + ", which led, died while rank " +
                               std::to_string(runtime().rank) + " had " + what +
                               ": no other replica can take that over, so the job ends");
}

void take_out(int replica) {
  Runtime& state = runtime();
  if (!state.here(replica)) return;
  state.gone[static_cast<std::size_t>(replica)] = 1;
  --state.present;
  for (int rank = 0; rank < state.ranks; ++rank) state.control.forget(state.map->physical_rank(rank, replica));
  state.control.forget_copies_from(replica);
  if (replica == state.leading) {
    if (const char* held = state.looks.held_by_leader()) cannot_take_over(held);
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
