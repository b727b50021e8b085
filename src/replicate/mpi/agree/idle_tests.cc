#include "replicate/mpi/agree/idle_tests.h"

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>

#include "replicate/mpi/agree/give_way.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

using SetYield = bool (*)(bool);

SetYield find_set_yield() {
  return reinterpret_cast<SetYield>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
}

#ifdef OPEN_MPI
bool set_own_yield(bool) {
  return false;
}
#else
constinit std::atomic<bool> gives_way{false};
constinit std::atomic<unsigned> idle_looks{0};  ///< since something came

bool set_own_yield(bool yield) {
  const bool before = gives_way.load(std::memory_order_relaxed);
  if (before != yield) gives_way.store(yield, std::memory_order_relaxed);
  return before;
}

void look_has_found(bool something) {
  constexpr unsigned free_looks = 8;  // MPI_Test and its like look once
  // Of several threads the one that looks has MPICH's lock, which a thread that sleeps would keep from the others.
  if (!gives_way.load(std::memory_order_relaxed) || many_threads()) return;
  if (something) return idle_looks.store(0, std::memory_order_relaxed);
  const unsigned looks = idle_looks.fetch_add(1, std::memory_order_relaxed);
  if (looks >= free_looks) give_way_inside(looks - free_looks);
}
#endif

}  // namespace

void give_way_in_waits() {
  set_own_yield(true);
}

bool KeepCoreInTests::set_yield(bool yield) {
  static const SetYield set = find_set_yield();
  return set != nullptr ? set(yield) : set_own_yield(yield);
}

}  // namespace holdfast::replicate

#ifndef OPEN_MPI
/// UCX's (ucp/api/ucp.h): how many steps it has taken for this worker.
extern "C" [[gnu::visibility("default")]] unsigned ucp_worker_progress(void* worker) {
  static const auto real = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  const unsigned steps = real(worker);
  holdfast::replicate::look_has_found(steps != 0);
  return steps;
}
#endif
