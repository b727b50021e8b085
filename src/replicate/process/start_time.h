#pragma once

#include <time.h>

namespace holdfast::replicate {

/// The time of day before MPI_Init, when the replicas cannot talk yet but a program may already seed its random numbers
/// with it: the moment at which `holdfast run` started the job (HOLDFAST_RUN_EPOCH), standing still, so that all
/// replicas read the same. After a million readings it goes on by a microsecond each. Only for the program itself
/// (program.h).
///
/// Constructors of shared libraries, which run before the program's first instruction, read the real clock: UCX
/// measures the processor's cycle counter there, some ten thousand readings long, and would wait for a standing clock.

/// Puts that time into `time` and answers true; false where a process reads its own clock.
bool time_before_init(timespec& time);

/// A time of a file's as the program may see it before MPI_Init: not later than the job's start, because what changed
/// since one replica may have looked at before and another after. Elsewhere as it is.
timespec file_time_before_init(const timespec& time);

/// MPI_Init was called: from here on replicas agree by messages.
void init_was_called();

}  // namespace holdfast::replicate
