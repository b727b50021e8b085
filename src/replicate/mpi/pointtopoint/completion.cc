#include "replicate/mpi/pointtopoint/completion.h"

#include <vector>

#include "real_functions.h"
#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/status.h"

namespace holdfast::replicate {

namespace {

std::vector<Operation*> background;

int finish_native(Operation& op, MPI_Status* status) {
  MPI_Status own = op.status;
  int code = op.schedule_code;
  if (op.native != MPI_REQUEST_NULL && !op.schedule) code = real().Wait(&op.native, &own);
  for (MPI_Request& other : op.other_worlds) real().Wait(&other, MPI_STATUS_IGNORE);
  hand_over(own, status);
  return code;
}

void end_placeholder(Operation& op, bool placeholder) {
  if (!placeholder || op.persistent() || op.visible == MPI_REQUEST_NULL) return;
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
  if (op.persistent()) {
    op.use = Operation::Use::inactive;
    op.native = op.visible;
    if (op.holder == Operation::Holder::library) {
      real().Request_free(&op.native);
      for (MPI_Request& other : op.other_worlds) real().Request_free(&other);
      runtime().requests.drop(op);
    }
    return code;
  }
  if (op.holder == Operation::Holder::application) end_placeholder(op, placeholder);
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

namespace {

bool companion_done(Operation& op) {
  if (op.companion == MPI_REQUEST_NULL) return true;
  if (Operation* send = runtime().requests.find(op.companion)) {
    if (!advance(*send)) return false;
    finish(*send, &op.companion, MPI_STATUS_IGNORE);
    return true;
  }
  int done = 0;
  set_awaited({});
  real().Test(&op.companion, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

}  // namespace

bool advance(Operation& op) {
  if (op.stage == Operation::Stage::complete) return companion_done(op);
  return op.advance(op) && companion_done(op);
}

void watch_in_background(Operation& op) {
  background.push_back(&op);
}

void forget_in_background(Operation& op) {
  std::erase(background, &op);
}

void advance_background() {
  for (std::size_t i = 0; i < background.size(); ++i) advance(*background[i]);
}

}  // namespace holdfast::replicate
