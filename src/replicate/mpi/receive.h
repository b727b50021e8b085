#pragma once

#include "replicate/mpi/operation.h"

namespace holdfast::replicate {

/// Posts a receive of the application: to MPI, or, at a follower behind an unresolved wildcard, into the waiting line.
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

/// From here on this replica posts wildcard receives to MPI as they are: at the start replica 0, later one that leads
/// after another and has heard all that that one said. What waited for the leader's word is posted in order.
void take_office();
/// Leader: looks for wildcard receives that have matched, and tells the followers.
void poll_wildcards();
/// Follower: the leader's wildcard receive number `wildcard` matched (source, tag).
void resolve_wildcard(std::uint64_t wildcard, int source, int tag, std::uint32_t poster);
/// The leader's receive was cancelled before it matched. At a follower whose own had matched already, the message is
/// put back for the next receive that fits.
void settle_cancel(Operation& op, bool cancelled);

/// A message put back by settle_cancel that (source, tag) would take; for probes.
bool put_back_matches(Comm& comm, int source, int tag, MPI_Status* status);

}  // namespace holdfast::replicate
