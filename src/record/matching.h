#pragma once

#include <string>
#include <vector>

#include "record/totals.h"

namespace holdfast::record {

/// What does not fit together in the ranks of a job, one line each: messages that were sent and not received, or the
/// reverse, and collectives that some members of a communicator called more often than others. Empty where all fits.
/// Ranks of which something is missing are left out of the comparison: `whole`, by rank.
std::vector<std::string> mismatches(const std::vector<RankTotals>& ranks, const std::vector<bool>& whole);

}  // namespace holdfast::record
