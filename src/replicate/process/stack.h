#pragma once

#include <cstdint>

namespace holdfast::replicate {

/// What MPI and Holdfast leave on the stack of the program's first thread differs between replicas: addresses, times,
/// numbers of processes. A local variable that the program does not set has it later, and is sent, where the program
/// sends it whole. With --same-memory it is cleared when a call of MPI returns.
struct Stack {
  std::uintptr_t lowest = 0;  ///< from where on the stack may be written; both 0: nothing is cleared
  std::uintptr_t highest = 0;
};
inline constinit Stack program_stack;

/// How far below the program's own frames: deeper than calls of MPI were seen to go. A multiple of a page.
inline constexpr std::uintptr_t cleared_bytes = std::uintptr_t{128} * 1024;

/// From the first thread, near the beginning of its stack: `top` is an address there.
void clear_stack_from_now_on(const void* top);
/// Clears what the loader, libraries' constructors and Holdfast have left, before main() is called.
void clear_startup();
/// Clears what is below the caller's frame, in the program's first thread alone: others' stacks, and those that a
/// program makes for its coroutines, may be too small.
void clear_stack();

}  // namespace holdfast::replicate
