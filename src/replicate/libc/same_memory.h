#pragma once

namespace holdfast::replicate {

/// With --same-memory a process's memory is made the same in every replica, as far as the program can see it without
/// having set it, and so are its addresses, which a program may print, sort by or hash by:
///
/// - The system puts programs, libraries, stacks and heaps at random addresses: that is turned off (personality(2)),
/// and
///   the environment, which lies above the stack, is padded to one length. Both take effect at a new start of the
///   program, once, before anything of it has run.
/// - The C library guards stack frames by a random number, copies of which stay behind: it becomes a constant.
/// - What MPI and Holdfast leave below the stack is cleared (process/stack.h), and what they allocate comes from a heap
/// of
///   their own (heap/heap.cc); the program's is filled by the C library itself (launch/plan/same_memory.h).
///
/// Called by the first thread before the program's constructors, from a function that no guard protects. `arguments`:
/// as main() has them.
void begin_with_same_memory(char** arguments);

}  // namespace holdfast::replicate
