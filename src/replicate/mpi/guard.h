#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdio>

#include "functions.h"
#include "replicate/mpi/stack.h"
#include "replicate/mpi/threads.h"

namespace holdfast::replicate {

/// How deep this thread is inside Holdfast or the MPI library. Above zero every wrapper passes: MPI's own calls of MPI,
/// and the hooks', are not the application's. Initial-exec, because the library is preloaded and every call reads it.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local int depth = 0;

/// Where the present call of a function that takes callbacks came from: set by its wrapper.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local void* calling_address = nullptr;

/// Standard output of the C library where what the program writes to it is recorded (streams.h), and how many of the
/// program's own bytes were still in its buffer when this thread last came here from the program. What is flushed
/// inside MPI is the program's as far as that, and MPI's own from there.
inline constinit std::FILE* recorded_printing = nullptr;
[[gnu::tls_model("initial-exec")]] inline constinit thread_local long unwritten = 0;

[[gnu::no_sanitize("thread")]] inline void note_unwritten() {
  if (recorded_printing) unwritten = recorded_printing->_IO_write_ptr - recorded_printing->_IO_write_base;
}

/// Holds depth above zero for its lifetime.
class Depth {
 public:
  Depth() {
    if (depth++ == 0) note_unwritten();
  }
  ~Depth() {
    if (--depth == 0 && program_stack.highest != 0) clear_stack();
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
};

/// What a function that stands for one of the C library is called in, and by InCall (thread_order.h) each hook: MPI's
/// own calls pass, and other threads wait for their turn.
class Inside {
 public:
  Inside() = default;

 private:
  Depth depth_;
  Turn turn_;
};

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
