#pragma once

#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// Posts a receive of the application: to MPI, or, at a follower behind an unresolved wildcard, later.
/// `op.persistent` with `op.native` set starts that persistent request instead of making a new one.
void post_receive(Operation& op, void* buffer, int count, MPI_Datatype type, int source, int tag, Comm& comm);

/// A receive that has its message already: from a matched probe.
void post_matched(Operation& op, void* buffer, int count, MPI_Datatype type, MPI_Message* message,
                  const MessageId& place, Comm& comm);

}  // namespace holdfast::replicate
