#pragma once

#include <mpi.h>

namespace holdfast::replicate {

/// From here on errors on this replica's world, and on communicators made from it, that nobody handles are compared
/// with the other replicas' before they end the job. The application sees MPI_ERRORS_ARE_FATAL as ever.
void watch_for_fatal_errors();
void forget_fatal_errors();

/// MPI_Request_get_status, whose error ends nothing yet: completing the request raises it, where the application's own
/// call would. (MPICH from 4.2 on raises it here already, on MPI_COMM_SELF.)
int status_of(MPI_Request request, int* done, MPI_Status* status);

}  // namespace holdfast::replicate
