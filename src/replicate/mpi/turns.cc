#include "replicate/mpi/turns.h"

#include <cstring>

#include "real_functions.h"
#include "replicate/mpi/decide.h"
#include "replicate/mpi/progress.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/threads.h"

namespace holdfast::replicate {

namespace {

bool taken = false;

constexpr std::int64_t writer = std::int64_t{1} << 32;  // a reader counts one
}  // namespace

Turns::Turns(MPI_Comm members) {
  void* memory = nullptr;
  // A whole cache line: with 40 bytes MPICH 4.0.2 was seen to answer with the value of another rank's slot.
  constexpr MPI_Aint bytes = 64;
  static_assert(static_cast<MPI_Aint>(Slot::count) * static_cast<MPI_Aint>(sizeof(std::int64_t)) <= bytes);
  call_that_waits(
      [&] { return real().Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, members, &memory, &window_); });
  real().Win_lock_all(MPI_MODE_NOCHECK, window_);
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  real().Win_sync(window_);
  call_that_waits([&] { return real().Barrier(members); });
}

void Turns::close() {
  real().Win_unlock_all(window_);
  call_that_waits([&] { return real().Win_free(&window_); });
}

std::int64_t Turns::read(Slot slot, int target) {
  return add(slot, target, 0);
}

std::int64_t Turns::add(Slot slot, int target, std::int64_t value) {
  std::int64_t before = 0;
  real().Fetch_and_op(&value, &before, MPI_INT64_T, target, static_cast<MPI_Aint>(slot), MPI_SUM, window_);
  real().Win_flush(target, window_);
  return before;
}

/// Takes hold of the target for an epoch, or leaves everything as it was.
bool Turns::hold(bool exclusive, int target) {
  const std::int64_t before = add(Slot::holders, target, exclusive ? writer : 1);
  if (exclusive ? before == 0 : before < writer) return true;
  add(Slot::holders, target, exclusive ? -writer : -1);
  return false;
}

void Turns::wait_for(Slot slot, int target, std::int64_t value) {
  wait_until([&] {
    set_awaited({});
    return read(slot, target) == value;
  });
}

bool turns_were_taken() {
  return taken;
}

void Turns::begin_epoch(int type, int target) {
  taken = true;
  const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
  if (!runtime().leader()) {
    wait_for(Slot::exclusive_ended, target, decide_index(0));
    if (exclusive) wait_for(Slot::shared_ended, target, decide_index(0));
    return;
  }
  wait_until([&] {
    set_awaited({});
    return hold(exclusive, target);
  });
  decide_index(read(Slot::exclusive_ended, target));
  if (exclusive) decide_index(read(Slot::shared_ended, target));
}

void Turns::end_epoch(int type, int target) {
  const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
  add(exclusive ? Slot::exclusive_ended : Slot::shared_ended, target, 1);
  if (runtime().leader()) add(Slot::holders, target, exclusive ? -writer : -1);
}

int Turns::take_turn(int target, const std::function<int()>& access) {
  taken = true;
  const bool leader = runtime().leader();
  const std::int64_t turn = decide_index(leader ? add(Slot::asked, target, 1) : 0);
  wait_for(Slot::accesses, target, turn);
  const int code = access();
  add(Slot::accesses, target, 1);
  return code;
}

}  // namespace holdfast::replicate
