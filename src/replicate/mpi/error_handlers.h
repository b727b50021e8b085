#pragma once

namespace holdfast::replicate {

/// From here on errors on this replica's world, and on communicators made from it, that nobody handles are compared
/// with the other replicas' before they end the job. The application sees MPI_ERRORS_ARE_FATAL as ever.
void watch_for_fatal_errors();
void forget_fatal_errors();

}  // namespace holdfast::replicate
