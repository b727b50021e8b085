#pragma once

#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// Posts a receive of the application: to MPI, or, at a follower behind an unresolved wildcard, later.
/// `op.persistent` with `op.native` set starts that persistent request instead of making a new one.
void post_receive(Operation& op, void* buffer, int count, MPI_Datatype type, int source, int tag, Comm& comm);

/// A receive that has its message already: from a matched probe.
void post_matched(Operation& op, void* buffer, int count, MPI_Datatype type, MPI_Message* message,
                  const MessageId& place, Comm& comm);

bool advance_receive(Operation& op);

/// Ends a complete receive: frees or resets what MPI holds, fills `status`, and returns MPI's error code.
int finish_receive(Operation& op, MPI_Status* status);

/// Whether receives on this communicator are still to be given to MPI.
bool has_waiting_receives(const Comm& comm);

/// Replica::take_lead().
void take_office();
/// Leader: looks for wildcard receives that have matched, and tells the followers.
void poll_wildcards();
/// Follower: the leader's wildcard receive number `wildcard` matched (source, tag).
void resolve_wildcard(std::uint64_t wildcard, int source, int tag, std::uint32_t poster);
/// The leader's receive was cancelled before it matched. At a follower whose own had matched already, the message is
/// requeued for the next receive that fits.
void settle_cancel(Operation& op, bool cancelled);

/// While other replicas wait for this one's word on a message: compares every message that has arrived, also where the
/// application does not wait for it yet.
void compare_what_others_ask_about();

/// A requeued message that (source, tag) would take; for probes.
bool requeued_matches(Comm& comm, int source, int tag, MPI_Status* status);

}  // namespace holdfast::replicate
