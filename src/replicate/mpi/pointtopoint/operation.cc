#include "replicate/mpi/pointtopoint/operation.h"

#include <algorithm>
#include <memory>

#include "real_functions.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/handle.h"

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

Ballot ballot_of_all(const std::vector<Region>& regions) {
  if (regions.size() == 1) return regions.front().ballot();
  std::vector<integrity::Digest> digests;
  digests.reserve(regions.size());
  std::uint64_t bytes = 0;
  for (const Region& each : regions) {
    digests.push_back(each.ballot().digest);
    bytes += each.bytes();
  }
  Ballot whole = ballot_of(std::as_bytes(std::span(digests)));
  whole.bytes = bytes;
  return whole;
}

std::uint64_t Operation::capacity() const {
  if (is_message()) return region.bytes();
  std::uint64_t bytes = 0;
  for (const Region& each : outputs) bytes += each.bytes();
  return bytes;
}

Ballot Operation::ballot(std::uint64_t bytes) const {
  return is_message() ? region.ballot(bytes) : ballot_of_all(outputs);
}

Copy Operation::copy(std::uint64_t bytes) const {
  auto packed = std::make_shared<std::vector<std::byte>>();
  if (is_message()) {
    region.gather(bytes, *packed);
    return packed;
  }
  std::vector<std::byte> part;
  for (const Region& each : outputs) {
    each.gather(each.bytes(), part);
    packed->insert(packed->end(), part.begin(), part.end());
  }
  return packed;
}

int Operation::sender_rank() const {
  return is_message() ? comm->virtual_rank(source) : runtime().rank;
}

std::uint64_t Operation::received() const {
  MPI_Count bytes = 0;  // more than an int holds, where elements are large
  real().Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

Ballot Operation::ballot_of_copy(std::span<const std::byte> bytes) const {
  if (is_message()) return region.ballot_of_copy(bytes);
  if (outputs.size() == 1) return outputs.front().ballot_of_copy(bytes);
  std::vector<integrity::Digest> digests;
  std::size_t at = 0;
  for (const Region& each : outputs) {
    const std::size_t length = std::min<std::size_t>(each.bytes(), bytes.size() - at);
    digests.push_back(each.ballot_of_copy(bytes.subspan(at, length)).digest);
    at += length;
  }
  Ballot all = ballot_of(std::as_bytes(std::span(digests)));
  all.bytes = bytes.size();
  return all;
}

bool Operation::overwrite(std::span<const std::byte> bytes) {
  if (is_message()) {
    corrected_bytes = bytes.size();
    return region.restore(bytes.first(std::min<std::size_t>(bytes.size(), region.bytes())), received());
  }
  bool all_known = true;
  for (const Region& each : outputs) {
    all_known = all_known && each.restore(bytes.first(each.bytes()), each.bytes());
    bytes = bytes.subspan(each.bytes());
  }
  return all_known;
}

std::vector<std::size_t> Operation::block_ends() const {
  for (const Region& each : outputs)
    if (each.padded() || each.any_address()) return {};
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  if (outputs.size() > 1) {
    for (const Region& each : outputs) ends.push_back(end += each.bytes());
    return ends;
  }
  const std::uint64_t bytes = capacity();
  if (blocks < 2 || bytes % blocks != 0) return ends;
  for (std::uint64_t b = 1; b <= blocks; ++b) ends.push_back(b * (bytes / blocks));
  return ends;
}

Copy Operation::give_up(std::int32_t& from, std::int32_t& with_tag) {
  from = status.MPI_SOURCE;
  with_tag = status.MPI_TAG;
  return copy(std::min(corrected_bytes.value_or(received()), capacity()));
}

void Operation::take_requeued(std::span<const std::byte> bytes, std::int32_t from, std::int32_t with_tag) {
  corrected_bytes.reset();
  region.scatter(bytes);
  status.MPI_SOURCE = from;
  status.MPI_TAG = with_tag;
  real().Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes.size()));
}

std::string Operation::result_name() const {
  return std::string("result of ") + function_name(function) + " at rank " + std::to_string(runtime().rank);
}

std::vector<int> Operation::ranks() const {
  std::vector<int> all(static_cast<std::size_t>(comm->peer_count));
  for (int i = 0; i < comm->peer_count; ++i) all[static_cast<std::size_t>(i)] = comm->virtual_rank(i);
  return all;
}

void Operation::put(std::span<const std::byte> bytes) const {
  for (const Region& each : outputs) {
    each.scatter(bytes.first(each.bytes()));
    bytes = bytes.subspan(each.bytes());
  }
}

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
  op.holder = Operation::Holder::library;
  orphans_.push_back(&op);
}

void Requests::hold_comm(Operation& op) {
  op.held_comm = op.comm;
  ++op.comm->pending;
}

void Requests::drop(Operation& op) {
  if (op.held_comm) --op.held_comm->pending;
  if (op.holder == Operation::Holder::library) {
    std::erase(orphans_, &op);
  } else if (op.visible != MPI_REQUEST_NULL) {
    const auto found = by_handle_.find(handle_key(op.visible));
    if (found != by_handle_.end() && found->second == &op) by_handle_.erase(found);
  }
  --live_;
  std::destroy_at(&op);
  free_.emplace_back(std::construct_at(&op));
}

}  // namespace holdfast::replicate
