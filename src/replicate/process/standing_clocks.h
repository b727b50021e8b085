#pragma once

#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::replicate {

/// The program's clocks while its replicas cannot talk: before MPI_Init, when it may already seed its random numbers
/// with the time or note when it began, and after MPI_Finalize, when it may tell how long it took. They stand still, so
/// that all replicas read the same: before MPI_Init at the moment at which `holdfast run` started the job
/// (HOLDFAST_RUN_EPOCH), with no processor time used and no other resource; after MPI_Finalize at what the leader's
/// showed when it was called. Only for the program itself (program.h).
///
/// For programs that wait for them, they go on in the end: after a million readings the time of day by a microsecond
/// each; after a thousand, processor times by a microsecond and more each, and the clocks since the host's start, that
/// of times() among them, with the host's own. What was shown so may be ahead of the host, and is at MPI_Init where the
/// host's time of day is behind the launcher's: from there it goes on. What a program links may read clocks too, not
/// equally often in each replica, so no single reading may count.
///
/// Constructors of shared libraries, which run before the program's first instruction, read the real clock: UCX
/// measures the processor's cycle counter there, some ten thousand readings long, and would wait for a standing clock.
/// Those of C++ that read it through the standard library are the program's all the same: LAMMPS keeps the moment at
/// which its library was loaded in a static variable, and sends what it has counted since.
///
/// HOLDFAST_RUN_EPOCH is what the launcher read of the time of day, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW and
/// CLOCK_BOOTTIME, in nanoseconds, and of times(), in its ticks, with colons between them. On another host they may be
/// later than its own clocks: ahead_of_host().

/// What all clocks show at once; of fixed size, so that it can be sent.
struct Moment {
  std::array<std::int64_t, CLOCK_BOOTTIME + 1> shown_ns{};  ///< by POSIX clock; 0: not told
  std::int64_t ticks = 0;                                   ///< what times() answers
  tms used_ticks{};
  std::int64_t used = 0;          ///< what clock() answers, CLOCKS_PER_SEC in a second
  std::array<rusage, 3> usage{};  ///< of children, the process and the thread: usage_of()

  rusage* usage_of(int who) {
    return who >= RUSAGE_CHILDREN && who <= RUSAGE_THREAD ? &usage[static_cast<std::size_t>(who - RUSAGE_CHILDREN)]
                                                          : nullptr;
  }
};

/// This process's clocks now, as they would go on from the launcher's.
Moment this_moment();

/// MPI_Finalize was called, and the clocks stand at this moment from here on.
void stand_at(const Moment& moment);

/// Each puts what a standing clock shows into its arguments and answers true. Otherwise it answers false, and the
/// process reads its own: the last three move what this host says to where the standing clocks had been. `caller`: the
/// return address of who reads it, as far as that is known.
bool standing_time(clockid_t clock, timespec& time, const void* caller = nullptr);
bool standing_usage(int who, rusage& usage);
bool standing_processor_time(clock_t& used);
bool standing_process_times(clock_t& now, tms& used);

/// By how many nanoseconds what the program sees of that clock while it stands is ahead of this host's clock, mostly
/// less than 0: what it waits for comes by so much earlier. 0 where a process reads its own clock.
std::int64_t standing_ahead(clockid_t clock);

/// The program has waited until that clock showed this, as it sees it: the standing clocks go on to then, by as much in
/// each replica, since they wait for the same.
void waited_while_standing(clockid_t clock, const timespec& until);

/// The program has slept for so many nanoseconds, as it asked to: the standing clocks go on by them, in each replica
/// alike. Otherwise a program that sleeps until a clock shows some time would sleep a million times.
void slept_while_standing(long long nanoseconds);

/// Nanoseconds by which this host's clock has to be ahead to go on from the launcher's, and a processor time and the
/// time of day from what they were before MPI_Init: mostly 0, and always where nothing is told.
std::int64_t ahead_of_host(clockid_t clock);

/// Whether the calling code is the program's, on its first thread, before MPI_Init or after MPI_Finalize, and such
/// clocks stand for it: its replicas cannot talk. Mostly one reading of a number.
bool program_stands();

/// A time of a file's as the program may see it before MPI_Init: not later than the job's start, because what changed
/// since one replica may have looked at before and another after. Elsewhere as it is.
timespec file_time_before_init(const timespec& time);

/// Whether that is after the job's start.
bool is_since_start(const timespec& time);

/// MPI_Init was called: from here on replicas agree by messages.
void init_was_called();
/// Any thread.
bool init_has_been_called();

}  // namespace holdfast::replicate
