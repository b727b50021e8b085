#pragma once

#include <string_view>

namespace holdfast::replicate {

/// From here on, a signal that ends this process leaves an incident file behind. Signals that the application handles
/// itself later are the application's.
void watch_for_crashes();

/// Notes that an MPI error which nobody handles is about to end the job, and waits a moment for the others' like notes.
void note_fatal_error(std::string_view what);

/// Ends this process, of which another replica knows better, where the job goes on without it; else the job, for
/// corruption that could not be corrected. One line says `why`.
[[noreturn]] void end_alone(std::string_view why);

/// Notes that the application ends the job by MPI_Abort in this process.
void note_abort(int code);

}  // namespace holdfast::replicate
