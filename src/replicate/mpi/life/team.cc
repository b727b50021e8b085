#include "replicate/mpi/life/team.h"

#include <cstddef>
#include <vector>

#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/io/written.h"
#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

namespace {

std::vector<char> finished;  // by replica

bool has_finished(int replica) {
  return static_cast<std::size_t>(replica) < finished.size() && finished[static_cast<std::size_t>(replica)] != 0;
}

}  // namespace

void finish_team() {
  Runtime& state = runtime();
  wait_until([&] {
    set_awaited({Awaited::What::team, state.rank, -1});
    return state.requests.orphans().empty() && state.engine->at_rest();
  });
  compare_what_was_written();
  Record record;
  record.kind = RecordKind::finished;
  record.ordinal = state.history.count();
  for (int k = 0; k < state.degree; ++k) {
    if (k != state.replica && state.here(k)) state.control.send(state.team_physical_rank(k), record);
  }
  wait_until([&] {
    set_awaited({Awaited::What::team, state.rank, -1});
    for (int k = 0; k < state.degree; ++k)
      if (k != state.replica && state.here(k) && !has_finished(k)) return false;
    return true;
  });
}

void file_finished(int replica) {
  if (finished.size() <= static_cast<std::size_t>(replica)) finished.resize(static_cast<std::size_t>(replica) + 1);
  finished[static_cast<std::size_t>(replica)] = 1;
}

}  // namespace holdfast::replicate
