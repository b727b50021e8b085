#pragma once

#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// Ends a complete operation at the application's completion call: frees or resets the handle, fills `status` (may be
/// MPI_STATUS_IGNORE), sets *request, and returns MPI's error code. The operation is gone unless it is persistent.
int finish(Operation& op, MPI_Request* request, MPI_Status* status);

/// Ends operations whose request the application freed, as they complete.
void finish_orphans();

/// At MPI_Finalize: waits until all replicas of this rank are here and nothing of theirs is under way.
void finish_team();
void file_finished(int replica);

}  // namespace holdfast::replicate
