#pragma once

#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// Asks MPI whether it is done with the receive, and moves it as far as it goes now; true when it is complete.
bool advance_receive(Operation& op);

/// Ends a complete receive: frees or resets what MPI holds, fills `status`, and returns MPI's error code.
int finish_receive(Operation& op, MPI_Status* status);

/// Whether receives on this communicator are still to be given to MPI.
bool has_waiting_receives(const Comm& comm);

/// Leader: looks for wildcard receives that have matched, and tells the followers.
void poll_wildcards();
/// Cancels a receive with MPI, which ends it one way or the other whatever other processes do (MPI 3.1, section 3.8.4);
/// false where it has its message.
bool cancel_with_mpi(Operation& op);
/// MPI_Cancel of a receive: the leader's outcome counts. It is agreed upon here and not when the application completes
/// the request: which message a later receive gets depends on it.
void cancel_receive(Operation& op);

/// While other replicas wait for this one's word on a message: compares every message that has arrived, also where the
/// application does not wait for it yet.
void compare_what_others_ask_about();

/// A requeued message that (source, tag) would take; for probes.
bool requeued_matches(Comm& comm, int source, int tag, MPI_Status* status);

}  // namespace holdfast::replicate
