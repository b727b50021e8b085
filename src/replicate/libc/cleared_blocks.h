#pragma once

namespace holdfast::replicate {

/// Blocks that malloc() and its kin give the program have zero in them, as memory that is fresh from the kernel has.
/// Otherwise what a process had there before, addresses above all, is different in each replica, and programs send
/// blocks of which they have set a part (docs/design/same-memory.md). MPI's and Holdfast's own blocks stay as they are,
/// and so do those of more than 1 MiB: filling them would cost memory that a program asks for and does not use, and
/// would place it near the thread that asks for it.
///
/// By malloc() and so on of the next library (dlsym(3)), which may be another allocator than the C library's; one
/// without a malloc_usable_size() of its own keeps its blocks as they are. Not in builds with a sanitizer, which has an
/// allocator of its own.

/// From here on, where `holdfast run` wants it (HOLDFAST_RUN_CLEAR_BLOCKS). The program begins.
void clear_blocks_from_now_on();

}  // namespace holdfast::replicate
