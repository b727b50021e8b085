#pragma once

#include <cstdio>

#include "replicate/process/stack.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

/// How deep this thread is inside Holdfast or the MPI library. Above zero every wrapper passes: MPI's own calls of MPI,
/// and the hooks', are not the application's. Initial-exec, because the library is preloaded and every call reads it.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local int depth = 0;

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

}  // namespace holdfast::replicate
