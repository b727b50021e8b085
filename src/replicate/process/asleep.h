#pragma once

#include <sys/types.h>

#include <cstdint>

namespace holdfast::replicate {

/// What threads of this process are about, as the kernel tells of each (/proc/self/task/*/syscall, proc(5)). A thread
/// that waits for its turn in Holdfast (threads.h) counts as one that runs. Where the kernel does not tell, all run.
/// Inside Holdfast (depth.h), any thread; some 10 us for each thread that is looked at.

/// Whether that thread sleeps until another one wakes it: in futex(2), without a time limit.
bool waits_for_thread(pid_t thread);

/// What it has used so far; 0 where it is gone.
std::int64_t processor_time_ns(pid_t thread);

/// Whether no thread but the calling one runs, or is about to.
bool others_sleep();

}  // namespace holdfast::replicate
