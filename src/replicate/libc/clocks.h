#pragma once

#include <time.h>

#include <cstdint>

namespace holdfast::replicate {

/// By how many nanoseconds the clock, as this thread of the program saw it last, is ahead of this host's: before
/// MPI_Init and after MPI_Finalize since when it stands (process/standing_clocks.h), between them how the leader's
/// differs. 0 for threads that read their own clock, and inside MPI and Holdfast.
std::int64_t seen_ahead(clockid_t clock);

}  // namespace holdfast::replicate
