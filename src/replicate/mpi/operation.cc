#include "replicate/mpi/operation.h"

#include <algorithm>

#include "real_functions.h"
#include "replicate/mpi/handle.h"

namespace holdfast::replicate {

namespace {

// A placeholder never completes by itself: the operation behind it does, and drops it.
int query_placeholder(void*, MPI_Status* status) {
  real().Status_set_elements(status, MPI_BYTE, 0);
  real().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int free_placeholder(void*) {
  return MPI_SUCCESS;
}
int cancel_placeholder(void*, int) {
  return MPI_SUCCESS;
}

}  // namespace

Operation& Requests::make() {
  ++live_;
  if (free_.empty()) return *new Operation();
  Operation* op = free_.back().release();
  free_.pop_back();
  return *op;
}

void Requests::give_placeholder(Operation& op) {
  real().Grequest_start(query_placeholder, free_placeholder, cancel_placeholder, nullptr, &op.visible);
}

void Requests::file(Operation& op) {
  if (op.visible == MPI_REQUEST_NULL) op.visible = op.native;
  if (op.visible == MPI_REQUEST_NULL || by_handle_.contains(handle_key(op.visible))) give_placeholder(op);
  by_handle_[handle_key(op.visible)] = &op;
}

Operation* Requests::find(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL || by_handle_.empty()) return nullptr;
  const auto found = by_handle_.find(handle_key(handle));
  return found == by_handle_.end() ? nullptr : found->second;
}

void Requests::orphan(Operation& op) {
  by_handle_.erase(handle_key(op.visible));
  op.orphan = true;
  orphans_.push_back(&op);
}

void Requests::hold_comm(Operation& op) {
  op.holds_comm = true;
  ++op.comm->pending;
}

void Requests::drop(Operation& op) {
  if (op.holds_comm) --op.comm->pending;
  if (op.orphan) {
    std::erase(orphans_, &op);
  } else if (op.visible != MPI_REQUEST_NULL) {
    const auto found = by_handle_.find(handle_key(op.visible));
    if (found != by_handle_.end() && found->second == &op) by_handle_.erase(found);
  }
  --live_;
  op = Operation();
  free_.emplace_back(&op);
}

}  // namespace holdfast::replicate
