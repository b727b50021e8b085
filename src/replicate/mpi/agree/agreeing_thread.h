#pragma once

namespace holdfast::replicate {

/// True when the calling thread's clock readings are to be agreed on: it is the thread that called MPI_Init, it is
/// outside MPI, and replication is active.
bool agreed_clocks();
/// Whether it is the thread that called MPI_Init.
bool agreeing_thread();
/// Makes the calling thread the one whose readings are agreed on.
void agree_on_this_thread();

}  // namespace holdfast::replicate
