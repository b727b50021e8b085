#pragma once

namespace holdfast::replicate {

/// The status with which a program ends is an answer too, and after MPI_Finalize no message can compare it. So each
/// process leaves its status in the run directory, and one that fails waits for the other replicas of its rank, as long
/// as the silence limit: where most of them ended otherwise, theirs is the one that the launcher gets to see.

/// MPI_Finalize is done: statuses are compared from here on.
void compare_exit_statuses();

/// What this process shall end with instead of `status`. Reports where replicas differ: as outvoted, or as corruption
/// that could not be corrected where there is no majority. Once a process; no MPI.
int settle_exit_status(int status);

}  // namespace holdfast::replicate
