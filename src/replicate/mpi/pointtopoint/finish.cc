#include "replicate/mpi/pointtopoint/finish.h"

#include <vector>

#include "real_functions.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/collective/schedule.h"
#include "replicate/mpi/io/written.h"
#include "replicate/mpi/life/runtime.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/status.h"

namespace holdfast::replicate {

namespace {

std::vector<char> finished;  // by replica

bool has_finished(int replica) {
  return static_cast<std::size_t>(replica) < finished.size() && finished[static_cast<std::size_t>(replica)] != 0;
}

int finish_native(Operation& op, MPI_Status* status) {
  MPI_Status own = op.status;
  int code = op.schedule ? op.schedule->code() : MPI_SUCCESS;
  if (op.native != MPI_REQUEST_NULL && !op.schedule) code = real().Wait(&op.native, &own);
  for (MPI_Request& other : op.other_worlds) real().Wait(&other, MPI_STATUS_IGNORE);
  hand_over(own, status);
  return code;
}

void end_placeholder(Operation& op, bool placeholder) {
  if (!placeholder || op.persistent || op.visible == MPI_REQUEST_NULL) return;
  real().Grequest_complete(op.visible);
  MPI_Request visible = op.visible;
  real().Wait(&visible, MPI_STATUS_IGNORE);
}

}  // namespace

int finish(Operation& op, MPI_Request* request, MPI_Status* status) {
  const bool placeholder = runtime().requests.has_placeholder(op);
  int code = MPI_SUCCESS;
  if (op.kind == Operation::Kind::receive) {
    code = finish_receive(op, status);
  } else {
    code = finish_native(op, status);
    if (op.kind == Operation::Kind::collective) {
      forget_in_background(op);
      if (op.when_done) op.when_done();
      --op.comm->pending;
    }
  }
  if (op.partitions && op.kind == Operation::Kind::receive && status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = op.posted_source;
    status->MPI_TAG = op.posted_tag;
  }
  if (op.persistent) {
    op.active = false;
    op.native = op.visible;
    if (op.orphan) {
      real().Request_free(&op.native);
      for (MPI_Request& other : op.other_worlds) real().Request_free(&other);
      runtime().requests.drop(op);
    }
    return code;
  }
  if (!op.orphan) end_placeholder(op, placeholder);
  runtime().requests.drop(op);
  if (request) *request = MPI_REQUEST_NULL;
  return code;
}

void finish_orphans() {
  const std::vector<Operation*> orphans = runtime().requests.orphans();
  for (Operation* op : orphans) {
    if (advance(*op)) finish(*op, nullptr, MPI_STATUS_IGNORE);
  }
}

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
