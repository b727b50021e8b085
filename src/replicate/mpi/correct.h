#pragma once

#include <string>

#include "replicate/mpi/operation.h"
#include "replicate/mpi/post.h"

namespace holdfast::replicate {

/// All ballots on the result of `op` are in (messages and collectives alike). Delivers, corrects, or ends the job;
/// leaves the operation disputed while a correction is on its way. `copies[k]` is replica k's whole copy where it was
/// sent along, else null.
void settle(Operation& op, std::span<const Ballot> ballots,
            std::span<const std::shared_ptr<const std::vector<std::byte>>> copies);

/// Sends this replica's copy of the message or result to another replica of its rank.
void supply(const Operation& op, int replica);

/// Sends it to all others that are left.
void supply_followers(const Operation& op);

/// Whether the ballots of all replicas that are left are the same.
bool alike_in_those_left(std::span<const Ballot> ballots);

/// What a replica that was taken out was sending will never come.
void forget_transfers_from(int replica);

/// "message from rank 0 to rank 1 (tag 7, 8 bytes)", for messages to people.
std::string described(const Operation& op);

/// ": no majority among the replicas' copies", which copies, and what else than a fault may be the cause.
std::string no_majority(std::span<const Ballot> ballots);

/// This replica's copy of a result was wrong, and is put right.
void note_wrong_result(const Operation& op);

/// A disputed operation looks whether its correction has arrived.
bool take_correction(Operation& op);

/// A copy that another replica supplied without a dispute, put in place; false while it has not come.
bool take_copy(Operation& op);

/// Two replicas disagree and there is no third: reports, and ends the job unless the user wants to go on.
void report_pair(Operation& op, const Ballot& other);

/// A payload that an arrived record announced.
void receive_announced(int native, const Record& record);
/// Moves announced payloads on.
void poll_transfers();

/// How many messages each replica of each rank had wrong, for the report: (virtual rank, replica) -> count.
std::vector<std::pair<std::pair<int, int>, std::uint64_t>> culprits();

}  // namespace holdfast::replicate
