#pragma once

#include <mpi.h>

#include <atomic>

#include "functions.h"
#include "replicate/process/depth.h"

namespace holdfast::replicate {

/// Where the present call of a function that takes callbacks came from: set by its wrapper.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local void* calling_address = nullptr;

/// What the wrappers look at before anything else. Set by MPI_Init, cleared by MPI_Finalize.
struct Protection {
  std::atomic<bool> active{false};
  MPI_Comm world{};  ///< this replica's own world; meaningful while active
};
inline constinit Protection protection;

/// Whether calls are protected: between MPI_Init and MPI_Finalize of a job with more than one replica.
inline bool active() {
  return protection.active.load(std::memory_order_relaxed);
}

inline bool passing_through() {
  return depth > 0 || !active();
}

/// The communicator that stands for `comm`: this replica's own world for MPI_COMM_WORLD, anything else unchanged.
inline MPI_Comm world(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? protection.world : comm;
}

/// Whether hooks can work on the communicator. Others (MPI_COMM_NULL, freed ones) go to MPI, which says what is wrong.
bool known(MPI_Comm comm);

/// Ends the job: the application called a function that cannot be protected. `because`: why not, and what to do.
[[noreturn]] int refuse(Function function, const char* because);

/// Why, where several threads use one window or file.
inline constexpr const char* threads_have_no_order =
    "several threads use one window, or one file without explicit offsets, and replicas have no order of theirs to "
    "agree on: give each thread a window or file of its own, use explicit offsets, or use --same-thread-order";

}  // namespace holdfast::replicate
