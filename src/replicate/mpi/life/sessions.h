#pragma once

namespace holdfast::replicate {

/// Ends the job when the program ends MPI with sessions that are still open: replication is over then, and what they do
/// after it would not be verified. Open MPI has sessions from 5.0 on.
void refuse_open_sessions();

/// Starts MPI and replication for a program that opens a session before MPI_Init, as MPI_Init_thread would (which the
/// program has not called: MPI_Initialized says so). Every process must open one, since this waits for all.
int begin_for_session(int thread_level);
/// Ends both when the last session is closed and the program has not called MPI_Init meanwhile. Waits for all.
int end_after_session();

}  // namespace holdfast::replicate
