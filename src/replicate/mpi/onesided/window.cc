#include "replicate/mpi/onesided/window.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "real_functions.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/handle.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

constexpr std::uint64_t window_mark = 0x77696e646f77;  // tells a window's id from a communicator's

std::vector<int> virtual_ranks(MPI_Win window) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world_group = MPI_GROUP_NULL;
  int size = 0;
  real().Win_get_group(window, &group);
  real().Comm_group(runtime().world, &world_group);
  real().Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::vector<int> ranks(own.size());
  std::iota(own.begin(), own.end(), 0);
  real().Group_translate_ranks(group, size, own.data(), world_group, ranks.data());
  real().Group_free(&group);
  real().Group_free(&world_group);
  return ranks;
}

/// The regions of several accesses as one list.
std::vector<Region> gathered(std::vector<Window::Access>& accesses, std::vector<Region> Window::Access::*which,
                             bool racing) {
  std::vector<Region> all;
  for (Window::Access& access : accesses) {
    if (access.racing != racing) continue;
    std::vector<Region>& own = access.*which;
    std::move(own.begin(), own.end(), std::back_inserter(all));
    own.clear();
  }
  return all;
}

/// What tells accesses apart, where several threads make them.
std::uint64_t what_of(const std::vector<Window::Access>& accesses) {
  std::uint64_t what = 0;
  for (std::size_t i = 0; many_threads() && i < accesses.size(); ++i) {
    const auto target = static_cast<std::uint64_t>(accesses[i].target);
    what = mix(mix(what, target), static_cast<std::uint64_t>(accesses[i].displacement));
  }
  return what;
}

/// What depends on who came first is the leader's, but its addresses mean nothing here.
void take_from_leader(Function function, const Comparison& name, std::vector<Region> results) {
  if (std::any_of(results.begin(), results.end(), [](const Region& result) { return result.any_address(); }))
    fail_unsupported(
        "addresses that processes exchange by fetching accesses between fences or in start/complete epochs",
        "use locks, under which replicas repeat the order of accesses");
  copy_from_leader(function, name, std::move(results));
}

std::shared_ptr<WindowMembers> make_members(MPI_Comm comm) {
  auto members = std::make_shared<WindowMembers>();
  MPI_Group group = MPI_GROUP_NULL;
  real().Comm_group(comm, &group);
  // A duplicate would call the application's attribute callbacks.
  call_that_waits([&] { return real().Comm_create(comm, group, &members->comm); });
  real().Group_free(&group);
  real().Comm_set_errhandler(members->comm, MPI_ERRORS_RETURN);
  return members;
}

/// What the other windows of the communicator have, or else new. Windows of several threads share nothing: those are
/// made, used and freed in no common order.
std::shared_ptr<WindowMembers> members_of(Comm& parent) {
  if (many_threads()) return make_members(parent.handle);
  std::shared_ptr<WindowMembers> members = parent.windows.lock();
  if (!members) parent.windows = members = make_members(parent.handle);
  return members;
}

int call(Window::Access& access) {
  const int code = access.call();
  for (MPI_Datatype& type : access.types) real().Type_free(&type);
  access.types.clear();
  return code;
}

}  // namespace

Window::Window(MPI_Win handle, Comm& parent, void* own_base, MPI_Aint own_bytes, bool shared)
    : handle_(handle),
      members_(members_of(parent)),
      id_(mix(mix(parent.id, parent.created++), window_mark)),
      ranks_(virtual_ranks(handle)),
      locks_(ranks_.size()),
      place_(members_->counts.take(members_->comm)),
      sequencer_(place_) {
  if (own_base && own_bytes > 0 && !shared) {
    exposed_.push_back(Region::borrow(own_base, static_cast<std::uint64_t>(own_bytes), MPI_BYTE));
  }
  // Memory that was never set may differ, and then all that can be compared is what is put there.
  exposed_comparable_ = same_in_team(next(), exposed_) && !exposed_.empty();
}

bool Window::accessible(int target) const {
  return passive(target) || started_ || fenced_;
}

bool Window::any_lock() const {
  return lock_all_ || std::any_of(locks_.begin(), locks_.end(), [](int lock) { return lock != 0; });
}

void Window::queue(Access access) {
  queued_.push_back(std::move(access));
}

std::vector<Window::Access> Window::take(int target) {
  std::vector<Access> taken;
  std::vector<Access> left;
  for (Access& access : queued_) {
    (target < 0 || access.target == target ? taken : left).push_back(std::move(access));
  }
  queued_ = std::move(left);
  return taken;
}

int Window::complete(Function function, int target, const std::function<int()>& synchronise) {
  std::vector<Access> accesses = take(target);
  const std::uint64_t what = what_of(accesses);
  std::vector<Region> out = gathered(accesses, &Access::out, false);
  std::vector<Region> racing_out = gathered(accesses, &Access::out, true);
  std::move(racing_out.begin(), racing_out.end(), std::back_inserter(out));
  if (!out.empty()) compare_in_team(function, next(what), std::move(out));
  int code = MPI_SUCCESS;
  for (Access& access : accesses) {
    const int one = call(access);
    if (code == MPI_SUCCESS) code = one;
  }
  const int synchronised = call_that_waits(synchronise);
  std::vector<Region> in = gathered(accesses, &Access::in, false);
  std::vector<Region> racing = gathered(accesses, &Access::in, true);
  if (!in.empty()) compare_in_team(function, next(what), std::move(in));
  if (!racing.empty()) take_from_leader(function, next(), std::move(racing));
  return code != MPI_SUCCESS ? code : synchronised;
}

int Window::perform_now(Function function, Access access, bool atomic) {
  const OneThread::Call inside(function, user_);
  const std::uint64_t what =
      mix(static_cast<std::uint64_t>(access.target), static_cast<std::uint64_t>(access.displacement));
  if (!access.out.empty()) compare_in_team(function, next(what), std::move(access.out));
  const auto whole = [&] {
    const int code = call(access);
    return code == MPI_SUCCESS ? real().Win_flush(access.target, handle_) : code;
  };
  const int code = atomic && shared(access.target) ? sequencer_.take_turn(access.target, whole) : whole();
  if (!access.in.empty()) compare_in_team(function, next(what), std::move(access.in));
  return code;
}

void Window::compare_exposed(Function function) {
  if (!exposed_comparable_) return;
  std::vector<Region> memory;
  for (const Region& region : exposed_) memory.push_back(Region::borrow(region.data(), region.bytes(), MPI_BYTE));
  compare_in_team(function, next(), std::move(memory));
}

void Window::meet() {
  MPI_Request here = MPI_REQUEST_NULL;
  real().Ibarrier(members_->comm, &here);
  wait_until([&] {
    int done = 0;
    set_awaited({});
    real().Test(&here, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

int Window::lock(int type, int target, int assertion) {
  sequencer_.begin_epoch(type, target);
  const int code = call_that_waits([&] { return real().Win_lock(type, target, assertion, handle_); });
  if (code == MPI_SUCCESS) {
    locks_[static_cast<std::size_t>(target)] = type;
    fenced_ = false;  // a fence opens an epoch only if accesses follow it (MPI 3.1, section 11.5.1)
  } else {
    sequencer_.end_epoch(type, target);
  }
  return code;
}

int Window::unlock(int target) {
  const int type = locks_[static_cast<std::size_t>(target)];
  const int code = complete(Function::Win_unlock, target, [&] { return real().Win_unlock(target, handle_); });
  locks_[static_cast<std::size_t>(target)] = 0;
  sequencer_.end_epoch(type, target);
  return code;
}

int Window::lock_all(int assertion) {
  for (int target = 0; target < peers(); ++target) sequencer_.begin_epoch(MPI_LOCK_SHARED, target);
  const int code = call_that_waits([&] { return real().Win_lock_all(assertion, handle_); });
  lock_all_ = code == MPI_SUCCESS;
  fenced_ = fenced_ && !lock_all_;
  for (int target = 0; !lock_all_ && target < peers(); ++target) sequencer_.end_epoch(MPI_LOCK_SHARED, target);
  return code;
}

int Window::unlock_all() {
  const int code = complete(Function::Win_unlock_all, -1, [&] { return real().Win_unlock_all(handle_); });
  lock_all_ = false;
  for (int target = 0; target < peers(); ++target) sequencer_.end_epoch(MPI_LOCK_SHARED, target);
  return code;
}

void Window::note_fence(int assertion) {
  fenced_ = (assertion & MPI_MODE_NOSUCCEED) == 0;
}

void Window::close() {
  members_->counts.give_back(place_);
  if (members_.use_count() > 1) return;
  members_->counts.close();
  real().Comm_free(&members_->comm);
}

void Windows::add(MPI_Win handle, MPI_Comm comm, void* own_base, MPI_Aint own_bytes, bool shared) {
  windows_[handle_key(handle)] =
      std::make_unique<Window>(handle, runtime().comms.find(comm), own_base, own_bytes, shared);
}

Window* Windows::find(MPI_Win handle) {
  const auto found = windows_.find(handle_key(handle));
  return found == windows_.end() ? nullptr : found->second.get();
}

void Windows::remove(MPI_Win handle) {
  windows_.erase(handle_key(handle));
}

Windows& windows() {
  static auto* all = new Windows();
  return *all;
}

}  // namespace holdfast::replicate
