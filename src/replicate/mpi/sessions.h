#pragma once

namespace holdfast::replicate {

/// Ends the job when the program ends MPI with sessions that are still open: replication is over then, and what they do
/// after it would not be verified. Open MPI 4.1 has no sessions.
void refuse_open_sessions();

}  // namespace holdfast::replicate
