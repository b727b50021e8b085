#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "record/totals.h"
#include "record/trace.h"

namespace holdfast::record {

/// The totals of a trace as text: the job, a table of its ranks, one of its functions, and what was only counted.
std::string totals_text(const Trace& trace, const std::vector<RankTotals>& ranks);

/// The same as a record "holdfast.trace" (version 1), with the flows between ranks.
nlohmann::ordered_json totals_json(const Trace& trace, const std::vector<RankTotals>& ranks);

}  // namespace holdfast::record
