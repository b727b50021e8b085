#pragma once

#include <cstdint>
#include <string>

#include "replicate/engine/record.h"
#include "replicate/engine/vote.h"
#include "replicate/engine/written_ballots.h"

namespace holdfast::replicate {

/// What the program writes to files is compared while the job runs: each replica tells the others the digest of every
/// stretch, from whatever it does next in MPI, and nobody waits for an answer (docs/design/files.md). Without a
/// majority the job ends, as it does for a message; with one the file is put right at the end of the job.

/// This process has written a stretch to the file of that name. Any thread; nothing is sent here.
void say_written(const WrittenStretch& stretch, const Ballot& ballot, const std::string& name);

/// Sends what was said since the last time. Cheap when there is nothing.
void compare_what_was_written();
void receive_written(int replica, const Record& record);

}  // namespace holdfast::replicate
