#include "replicate/mpi/pointtopoint/receive.h"

#include "real_functions.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/error_handlers.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/pointtopoint/status.h"

namespace holdfast::replicate {

namespace {

/// Each costs MPI a look at all its channels, or a part of one.
constexpr std::size_t matches_at_a_look = 32;

/// Asks MPI once whether it is done with the receive; then the engine has it. True also where it is past that.
bool native_done(Operation& op) {
  if (op.stage != Operation::Stage::native) return true;
  int done = 0;
  op.status.MPI_ERROR = MPI_SUCCESS;
  const int code = status_of(op.native, &done, &op.status);
  if (code != MPI_SUCCESS) {
    op.status.MPI_ERROR = code;
    done = 1;
  }
  if (!done) {
    set_awaited({Awaited::What::own_world, op.source >= 0 ? op.comm->virtual_rank(op.source) : -1, runtime().replica});
    return false;
  }
  int error_class = MPI_SUCCESS;
  if (op.status.MPI_ERROR != MPI_SUCCESS) real().Error_class(op.status.MPI_ERROR, &error_class);
  runtime().engine->arrived(op, op.status.MPI_SOURCE, op.status.MPI_TAG, error_class != MPI_SUCCESS);
  return true;
}

}  // namespace

bool advance_receive(Operation& op) {
  if (op.stage == Operation::Stage::native && (!native_done(op) || op.stage == Operation::Stage::native)) return false;
  return runtime().engine->advance(op);
}

int finish_receive(Operation& op, MPI_Status* status) {
  int code = MPI_SUCCESS;
  MPI_Status own_status = op.status;
  if (op.cancellation == Operation::Cancellation::agreed || op.requeued()) {
    // MPI is done with it, or never had it; the application hears of the leader's outcome, or of another message.
    if (op.native != MPI_REQUEST_NULL) real().Wait(&op.native, MPI_STATUS_IGNORE);
  } else if (op.corrected_bytes && !op.persistent() && op.native != MPI_REQUEST_NULL) {
    real().Request_free(&op.native);  // MPI's own message may have been too long; the one delivered instead is not
  } else if (op.native != MPI_REQUEST_NULL) {
    code = real().Wait(&op.native, MPI_STATUS_IGNORE);  // MPICH 4.2 has forgotten that of a persistent one, once asked
    if (code == MPI_SUCCESS && op.refused()) {
      code = op.status.MPI_ERROR;
      real().Comm_call_errhandler(op.comm->handle, code);
    }
  }
  if (op.corrected_bytes)
    real().Status_set_elements_x(&own_status, MPI_BYTE, static_cast<MPI_Count>(*op.corrected_bytes));
  hand_over(own_status, status);
  runtime().engine->over(op);
  --op.comm->pending;
  return code;
}

bool has_waiting_receives(const Comm& comm) {
  return runtime().engine && runtime().engine->has_waiting_receives(comm.id);
}

void poll_wildcards() {
  if (!runtime().engine->has_unresolved_wildcards()) return;
  for (Verified* receive : runtime().engine->matches_to_look_for(matches_at_a_look))
    native_done(static_cast<Operation&>(*receive));
}

bool cancel_with_mpi(Operation& op) {
  if (op.native == MPI_REQUEST_NULL) return !op.requeued();
  using Cancellation = Operation::Cancellation;
  if (op.cancellation != Cancellation::none) return op.cancellation != Cancellation::too_late;
  real().Cancel(&op.native);
  int done = 0;
  while (done == 0) real().Request_get_status(op.native, &done, &op.status);
  int cancelled = 0;
  real().Test_cancelled(&op.status, &cancelled);
  op.cancellation = cancelled != 0 ? Cancellation::taken_back : Cancellation::too_late;
  return cancelled != 0;
}

void cancel_receive(Operation& op) {
  if (op.cancellation == Operation::Cancellation::agreed) return;
  const std::int64_t cancelled =
      decide_number([&] { return std::int64_t{!op.requeued() && cancel_with_mpi(op) ? 1 : 0}; });
  if (cancelled == 0) return;  // it matched: completes as a receive
  runtime().engine->cancelled(op);
  op.cancellation = Operation::Cancellation::agreed;
  real().Status_set_elements(&op.status, MPI_BYTE, 0);
  real().Status_set_cancelled(&op.status, 1);
}

void compare_what_others_ask_about() {
  Runtime& state = runtime();
  if (!state.engine->others_wait()) return;
  state.requests.for_each([](Operation& op) {
    const bool waiting =
        op.kind == Operation::Kind::receive && !op.idle() && op.cancellation != Operation::Cancellation::agreed;
    if (waiting && op.stage != Operation::Stage::complete) advance_receive(op);
  });
  state.engine->said();
}

bool requeued_matches(Comm& comm, int source, int tag, MPI_Status* status) {
  const Replica::Requeued* found = runtime().engine->find_requeued(comm.id, engine_source(source), engine_tag(tag));
  if (!found) return false;
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = found->source;
    status->MPI_TAG = found->tag;
    real().Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(found->bytes->size()));
  }
  return true;
}

}  // namespace holdfast::replicate
