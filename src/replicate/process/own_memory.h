#pragma once

#include <atomic>
#include <cstddef>

#include "replicate/process/depth.h"

namespace holdfast::replicate {

/// Whether blocks that the program is given have zero in them, up to so many bytes: a mebibyte, and what the C library
/// rounds up (libc/cleared_blocks.h).
inline constinit std::atomic<bool> clears_blocks{false};
inline constexpr std::size_t longest_cleared = (std::size_t{1} << 20) + 4096;

/// How many calls of the C library this thread is in that Holdfast answers, and whether it is in one of them for the
/// program just now.
struct Answers {
  int deep = 0;
  bool for_program = false;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Answers answers;

/// Whether what this thread allocates is MPI's or Holdfast's (libc/same_memory.h).
inline bool own_memory() {
  return (depth > 0 || answers.deep > 0) && !answers.for_program;
}

/// While Holdfast answers a call of the C library: which memory that takes, and what it leaves on the stack, differs
/// between replicas, and is not to be seen by the program.
class Answering {
 public:
  Answering() { ++answers.deep; }
  ~Answering() {
    if (--answers.deep == 0 && depth == 0 && program_stack.highest != 0) clear_stack();
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;
};

/// While the C library allocates something that the program is given.
class ForProgram {
 public:
  ForProgram() : before_(answers.for_program) { answers.for_program = true; }
  ~ForProgram() { answers.for_program = before_; }
  ForProgram(const ForProgram&) = delete;
  ForProgram& operator=(const ForProgram&) = delete;

 private:
  bool before_;
};

}  // namespace holdfast::replicate
