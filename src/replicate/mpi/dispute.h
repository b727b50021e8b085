#pragma once

#include <span>

#include "replicate/mpi/operation.h"
#include "replicate/mpi/post.h"

namespace holdfast::replicate {

/// Disputes over messages, as engine/dispute.h settles them: what replicas say to each other travels as records, and a
/// receive in dispute goes on when its dispute is ruled upon.

/// The message of `op` differs from what the sender replica below announced.
void open_dispute(Operation& op, const Ballot& announced);
/// True when the receive can be delivered: kept, after copies went to those who lack it, or replaced. Ends the job
/// where it cannot be told which copy is right.
bool advance_dispute(Operation& op);
/// The message with this name was compared and nothing differed.
void note_agreement(const MessageId& id);

/// msg-plus-vote: this replica lost the vote over a message. Whoever has the good copy supplies it when it compares the
/// message itself, and is asked to do that now: its application may be waiting for something else.
void ask_for_correction(Operation& op, int holder, std::span<const Ballot> ballots);

void receive_statement(const ControlMessage& message);
/// While other replicas wait for this one's word on a message: compares every message that has arrived, also where the
/// application does not wait for it yet.
void compare_what_others_ask_about();

}  // namespace holdfast::replicate
