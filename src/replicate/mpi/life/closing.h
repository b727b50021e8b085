#pragma once

namespace holdfast::replicate {

/// MPI_Finalize is called: the replicas agree on what their clocks show from here on (process/standing_clocks.h).
/// Inside Holdfast, in the thread's turn, before anything of MPI ends.
void stop_clocks();

/// Leaves this process's closing statement in the run directory, after MPI_Finalize: the job, how many bytes of each
/// standard stream it has recorded so far, and whether its replica has changed files. What the launcher compares when
/// the job has ended lies in files, and a file that vanished must not look like one that never was
/// (launch/compare/closing.h reads it).
void leave_closing_statement();

}  // namespace holdfast::replicate
