#include "replicate/mpi/context/comms.h"

#include <algorithm>
#include <numeric>

#include "real_functions.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/intercept/handle.h"

namespace holdfast::replicate {

namespace {
constexpr std::uint64_t world_id = 1;
constexpr std::uint64_t self_id = 2;
constexpr std::uint64_t shadow_mark = 0x736861646f77;  // tells a shadow's id from its communicator's

void free_in_other_worlds(Comm& comm) {
  for (InWorld& other : comm.other_worlds) real().Comm_free(&other.handle);
}

/// A communicator of the same members; a duplicate would call the application's attribute callbacks.
MPI_Comm twin(MPI_Comm handle) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  real().Comm_group(handle, &members);
  call_that_waits([&] { return real().Comm_create(handle, members, &made); });
  real().Group_free(&members);
  real().Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

}  // namespace

bool known(MPI_Comm comm) {
  return runtime().comms.has(comm);
}

void Comms::open(MPI_Comm world, const std::vector<InWorld>& other_worlds, int rank, bool shadows) {
  shadows_ = shadows;
  real().Comm_group(world, &world_group_);
  file(world, other_worlds, world_id).default_errors = true;
  Comm& self = file(MPI_COMM_SELF, {}, self_id);
  self.default_errors = true;
  self.peers = {rank};
}

void Comms::close() {
  free_idle();
  for (auto& [handle, comm] : comms_)
    if (comm->shadow) free_hidden(*comm->shadow);
  comms_.clear();
  last_ = nullptr;
  if (world_group_ != MPI_GROUP_NULL) real().Group_free(&world_group_);
}

bool Comms::any_being_copied() const {
  return std::any_of(comms_.begin(), comms_.end(), [](const auto& each) { return each.second->being_copied(); });
}

Comm& Comms::find(MPI_Comm handle) {
  if (last_ && last_handle_ == handle) return *last_;
  auto found = comms_.find(handle_key(handle));
  if (found == comms_.end()) {
    fail_unsupported("a communicator that Holdfast did not see being made",
                     "make communicators with MPI functions after MPI_Init");
  }
  last_handle_ = handle;
  last_ = found->second.get();
  return *last_;
}

void Comms::add(MPI_Comm handle, const std::vector<InWorld>& other_worlds, Comm& parent, std::uint64_t distinguishing) {
  const std::uint64_t id = next_id(parent, distinguishing);
  if (handle != MPI_COMM_NULL) add_with_id(handle, other_worlds, parent, id);
}

std::uint64_t Comms::next_id(Comm& parent, std::uint64_t distinguishing) {
  return mix(mix(parent.id, parent.created++), distinguishing);
}

void Comms::add_with_id(MPI_Comm handle, const std::vector<InWorld>& other_worlds, const Comm& parent, std::uint64_t id,
                        MPI_Comm shadow) {
  file(handle, other_worlds, id, shadow).default_errors = parent.default_errors;
}

Comm& Comms::file(MPI_Comm handle, const std::vector<InWorld>& other_worlds, std::uint64_t id, MPI_Comm shadow) {
  auto comm = describe(handle, id);
  comm->other_worlds = other_worlds;
  if (shadow != MPI_COMM_NULL) {
    real().Comm_set_errhandler(shadow, MPI_ERRORS_RETURN);
    comm->shadow = describe(shadow, mix(id, shadow_mark));
  } else if (shadows_ && (!comm->inter || runtime().partial)) {
    comm->shadow = make_hidden(handle, other_worlds, mix(id, shadow_mark));
  }
  last_ = nullptr;
  return *(comms_[handle_key(handle)] = std::move(comm));
}

std::unique_ptr<Comm> Comms::make_hidden(MPI_Comm of, const std::vector<InWorld>& other_worlds,
                                         std::uint64_t id) const {
  std::unique_ptr<Comm> hidden = describe(twin(of), id);
  hidden->ordered_by_tag = true;
  for (const InWorld& each : other_worlds) hidden->other_worlds.push_back({each.world, twin(each.handle)});
  return hidden;
}

void Comms::free_hidden(Comm& hidden) {
  real().Comm_free(&hidden.handle);
  free_in_other_worlds(hidden);
}

std::unique_ptr<Comm> Comms::describe(MPI_Comm handle, std::uint64_t id) const {
  auto comm = std::make_unique<Comm>();
  comm->handle = handle;
  comm->id = id;
  real().Comm_rank(handle, &comm->rank);
  real().Comm_size(handle, &comm->size);
  int inter = 0;
  real().Comm_test_inter(handle, &inter);
  comm->inter = inter != 0;

  MPI_Group group = MPI_GROUP_NULL;
  if (comm->inter) {
    real().Comm_remote_group(handle, &group);
  } else {
    real().Comm_group(handle, &group);
  }
  int peers = 0;
  real().Group_size(group, &peers);
  std::vector<int> ranks(static_cast<std::size_t>(peers));
  std::iota(ranks.begin(), ranks.end(), 0);
  comm->peer_count = peers;
  comm->peers.resize(ranks.size());
  real().Group_translate_ranks(group, peers, ranks.data(), world_group_, comm->peers.data());
  real().Group_free(&group);
  if (comm->peers == ranks) comm->peers.clear();
  comm->peers.shrink_to_fit();
  return comm;
}

void Comms::remove(MPI_Comm handle, bool held) {
  auto found = comms_.find(handle_key(handle));
  if (found == comms_.end()) return;
  found->second->held = held;
  freed_.push_back(std::move(found->second));
  comms_.erase(found);
  last_ = nullptr;
  free_idle();
}

void Comms::free_idle() {
  std::erase_if(freed_, [](const auto& comm) {
    if (comm->pending > 0) return false;
    if (comm->shadow) free_hidden(*comm->shadow);
    free_in_other_worlds(*comm);
    if (comm->held) real().Comm_free(&comm->handle);
    return true;
  });
}

std::size_t Comms::live() {
  free_idle();
  return comms_.size() + freed_.size();
}

}  // namespace holdfast::replicate
