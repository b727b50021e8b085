#pragma once

#include "replicate/engine/record.h"
#include "replicate/mpi/operation.h"

namespace holdfast::replicate {

/// A result of a collective of which no whole copy has a majority, because ranks that contributed to it were corrupted
/// in different replicas. All replicas of this rank know it from the same ballots. Where the result is made of blocks
/// that one rank each has given, or of the elements of a reduction, the replicas of the rank send each other their
/// copies, and each votes block by block (engine/block_vote.h). No other rank takes part or needs to know.

/// Begins that; false where the result has no blocks, or padding, which no copy can be compared in.
bool contest(Operation& op);
/// True when it is over: the result is put right. Ends the job where a block has no majority.
bool take_contest(Operation& op);

/// Another replica's copy is on its way.
void receive_contested(int native, const Record& record);

}  // namespace holdfast::replicate
