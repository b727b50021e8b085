#pragma once

#include <time.h>

#include <cstdint>

namespace holdfast::replicate {

/// The time of day before MPI_Init, when the replicas cannot talk yet but a program may already seed its random numbers
/// with it: the moment at which `holdfast run` started the job (HOLDFAST_RUN_EPOCH), standing still, so that all
/// replicas read the same. After a million readings it goes on by a microsecond each. Only for the program itself
/// (program.h).
///
/// Constructors of shared libraries, which run before the program's first instruction, read the real clock: UCX
/// measures the processor's cycle counter there, some ten thousand readings long, and would wait for a standing clock.
/// Those of C++ that read it through the standard library are the program's all the same: LAMMPS keeps the moment at
/// which its library was loaded in a static variable, and sends what it has counted since.
///
/// CLOCK_MONOTONIC stands still, for a thousand readings, at what the launcher read with the time of day
/// (HOLDFAST_RUN_EPOCH is both, in nanoseconds, with a colon between them), which on another host may be later than its
/// own clock: monotonic_ahead().

/// Puts that time into `time` and answers true; false where a process reads its own clock. `caller`: the return address
/// of who reads it, as far as that is known.
bool time_before_init(clockid_t clock, timespec& time, const void* caller = nullptr);

/// By how many nanoseconds what the program sees of that clock then is ahead of this host's clock, mostly less than 0:
/// what it waits for comes by so much earlier. 0 where a process reads its own clock.
std::int64_t ahead_before_init(clockid_t clock);

/// The program has waited until that clock showed this, as it sees it: the standing clocks go on to then, by as much in
/// each replica, since they wait for the same.
void waited_before_init(clockid_t clock, const timespec& until);

/// The program has slept for so many nanoseconds, as it asked to: the standing clocks go on by them, in each replica
/// alike. Otherwise a program that sleeps until a clock shows some time would sleep a million times.
void slept_before_init(long long nanoseconds);

/// Nanoseconds by which this host's CLOCK_MONOTONIC has to be ahead to go on from the launcher's: 0 on the launcher's
/// host, and where there is no such time.
std::int64_t monotonic_ahead();

/// A time of a file's as the program may see it before MPI_Init: not later than the job's start, because what changed
/// since one replica may have looked at before and another after. Elsewhere as it is.
timespec file_time_before_init(const timespec& time);

/// MPI_Init was called: from here on replicas agree by messages.
void init_was_called();
/// Any thread.
bool init_has_been_called();

}  // namespace holdfast::replicate
