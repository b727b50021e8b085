#pragma once

#include <string>
#include <vector>

#include "core/status/status.h"

namespace holdfast::launch {

/// How standard input reaches rank 0 of every replica, although launchers give it to physical rank 0 only: the
/// preloaded library opens `path` (HOLDFAST_RUN_STDIN) as standard input of those processes.
struct InputPlan {
  enum class Kind {
    file,   ///< the file itself (or /dev/null): every replica reads it by its own descriptor
    spool,  ///< copied to `path` before the start: the rest of a file, or a pipe where a job has several hosts
    tee,    ///< a FIFO for every replica, fed while the job runs
  };
  Kind kind = Kind::file;
  std::string path;                ///< %r stands for the replica's number
  std::vector<std::string> fifos;  ///< tee: by replica
};

/// Decides by what `descriptor` is: nothing open: /dev/null; a regular file at its start: its path; one that was read
/// from already: the rest, spooled; a pipe, socket or terminal: tee on one host, spool on several (a terminal there:
/// /dev/null). Touches nothing. `folder` is the run directory.
InputPlan plan_input(int descriptor, const std::string& folder, int degree, bool several_hosts);

/// Copies the descriptor to the plan's spool file, up to its end. Error: io.
Status spool_input(int descriptor, const InputPlan& plan);

}  // namespace holdfast::launch
