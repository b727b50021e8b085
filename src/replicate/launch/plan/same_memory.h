#pragma once

#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/command.h"

namespace holdfast::launch {

/// What processes are told whose memory is to be the same in every replica (libc/same_memory.h): that, and
/// GLIBC_TUNABLES, with the user's own, for the C library to fill what malloc() gives out. Its per-thread cache must be
/// off: what comes from it is not filled (glibc 2.36); and so must mapped blocks, whose addresses depend on MPI's.
/// Error: unavailable, where the system does not let a process have addresses that are not random.
Result<std::vector<Variable>> same_memory_variables();

}  // namespace holdfast::launch
