#pragma once

#include "replicate/engine/counters.h"

namespace holdfast::replicate {

/// The counters of this process, in memory that becomes a file of the run directory (`counted-<v>.<k>`,
/// launch/report/tally.h): what a process has counted is known even where the job ends early and nobody can say
/// anything more.

Counters& tallied_counters();

/// From here on they are that file, as long as there is a run directory that takes it.
void tally_in_file(int rank, int replica);

}  // namespace holdfast::replicate
