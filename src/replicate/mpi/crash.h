#pragma once

namespace holdfast::replicate {

/// From here on, a signal that ends this process leaves an incident file behind. Signals that the application handles
/// itself later are the application's.
void watch_for_crashes();

/// Notes that the application ends the job by MPI_Abort in this process.
void note_abort(int code);

}  // namespace holdfast::replicate
