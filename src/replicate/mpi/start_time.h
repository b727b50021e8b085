#pragma once

#include <time.h>

#include <atomic>

namespace holdfast::replicate {

/// The time of day before MPI_Init, when the replicas cannot talk yet but a program may already seed its random numbers
/// with it: the moment at which `holdfast run` started the job (HOLDFAST_RUN_EPOCH), standing still, so that all
/// replicas read the same. After a million readings it goes on by a microsecond each. Only in the program that was
/// started (HOLDFAST_RUN_PROGRAM), not in scripts and tools around it, and only on its first thread.
///
/// Constructors of shared libraries, which run before the program's first instruction, read the real clock: UCX measures
/// the processor's cycle counter there, some ten thousand readings long, and would wait for a standing clock.

/// Puts that time into `time` and answers true; false where a process reads its own clock.
bool time_before_init(timespec& time);

/// The shared libraries are loaded, the program's own code comes next: time stands still from here on.
void program_begins();

/// MPI_Init was called: from here on replicas agree by messages.
void init_was_called();

}  // namespace holdfast::replicate
