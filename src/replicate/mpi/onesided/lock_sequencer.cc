#include "replicate/mpi/onesided/lock_sequencer.h"

#include <algorithm>
#include <utility>

#include "real_functions.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

bool taken = false;

constexpr std::int64_t writer = std::int64_t{1} << 32;  // a reader counts one

// A multiple of 16 bytes: with any other size of MPI_Win_allocate MPICH 4.0.2 finds the memory of other ranks of the
// host where it is not (docs/results/mpi-conformance.md).
constexpr std::size_t place_counts = 64 / sizeof(std::int64_t);
static_assert(LockSequencer::counts <= place_counts);

}  // namespace

SequencerCounts::Page& SequencerCounts::with_room(MPI_Comm members) {
  for (Page& page : pages_)
    if (std::find(page.used.begin(), page.used.end(), false) != page.used.end()) return page;
  Page page;
  call_that_waits([&] {
    return real().Win_allocate(places_a_page * place_counts * sizeof(std::int64_t), sizeof(std::int64_t), MPI_INFO_NULL,
                               members, &page.counts, &page.window);
  });
  real().Win_lock_all(MPI_MODE_NOCHECK, page.window);
  std::fill_n(page.counts, places_a_page * place_counts, 0);
  real().Win_sync(page.window);
  call_that_waits([&] { return real().Barrier(members); });
  return pages_.emplace_back(std::move(page));
}

SequencerCounts::Place SequencerCounts::take(MPI_Comm members) {
  Page& page = with_room(members);
  const auto free = std::find(page.used.begin(), page.used.end(), false);
  *free = true;
  return {page.window, (free - page.used.begin()) * static_cast<MPI_Aint>(place_counts)};
}

void SequencerCounts::give_back(const Place& place) {
  for (Page& page : pages_) {
    if (page.window != place.window) continue;
    page.used[static_cast<std::size_t>(place.first) / place_counts] = false;
    std::fill_n(page.counts + place.first, place_counts, 0);
    real().Win_sync(page.window);
  }
}

void SequencerCounts::close() {
  for (Page& page : pages_) {
    real().Win_unlock_all(page.window);
    call_that_waits([&] { return real().Win_free(&page.window); });
  }
  pages_.clear();
}

std::int64_t LockSequencer::read(Slot slot, int target) {
  return add(slot, target, 0);
}

std::int64_t LockSequencer::add(Slot slot, int target, std::int64_t value) {
  std::int64_t before = 0;
  real().Fetch_and_op(&value, &before, MPI_INT64_T, target, place_.first + static_cast<MPI_Aint>(slot), MPI_SUM,
                      place_.window);
  real().Win_flush(target, place_.window);
  return before;
}

/// Takes hold of the target for an epoch, or leaves everything as it was.
bool LockSequencer::hold(bool exclusive, int target) {
  const std::int64_t before = add(Slot::holders, target, exclusive ? writer : 1);
  if (exclusive ? before == 0 : before < writer) return true;
  add(Slot::holders, target, exclusive ? -writer : -1);
  return false;
}

void LockSequencer::wait_for(Slot slot, int target, std::int64_t value) {
  wait_until([&] {
    set_awaited({});
    return read(slot, target) == value;
  });
}

bool lock_order_was_taken() {
  return taken;
}

void LockSequencer::begin_epoch(int type, int target) {
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

void LockSequencer::end_epoch(int type, int target) {
  const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
  add(exclusive ? Slot::exclusive_ended : Slot::shared_ended, target, 1);
  if (runtime().leader()) add(Slot::holders, target, exclusive ? -writer : -1);
}

int LockSequencer::take_turn(int target, const std::function<int()>& access) {
  taken = true;
  const bool leader = runtime().leader();
  const std::int64_t turn = decide_index(leader ? add(Slot::asked, target, 1) : 0);
  wait_for(Slot::accesses, target, turn);
  const int code = access();
  add(Slot::accesses, target, 1);
  return code;
}

}  // namespace holdfast::replicate
