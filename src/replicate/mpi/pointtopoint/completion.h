#pragma once

#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// Ends a complete operation at the application's completion call: frees or resets the handle, fills `status` (may be
/// MPI_STATUS_IGNORE), sets *request, and returns MPI's error code. The operation is gone unless it is persistent.
int finish(Operation& op, MPI_Request* request, MPI_Status* status);

/// Ends operations whose request the application freed, as they complete.
void finish_orphans();

/// Adds an operation to those that advance_background() advances even while the application waits for something else.
void watch_in_background(Operation& op);
void forget_in_background(Operation& op);

/// Moves one operation as far as it goes now; true when it is complete. Callable again after completion.
bool advance(Operation& op);

/// Advances those, once.
void advance_background();

}  // namespace holdfast::replicate
