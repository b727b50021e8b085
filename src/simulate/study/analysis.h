#pragma once

#include <span>

#include "core/status/status.h"
#include "simulate/study/database.h"
#include "simulate/study/study_record.h"

namespace holdfast::simulate::study {

/// Statistics of the runs that are there: quartiles a scenario, a least-squares line an engine (Fail-in-Place Network
/// Design, section V-B), crossings of lines, and advice. A run without a throughput counts as a failed routing and is
/// in no line. Errors: those of the database; bad_input when a run lacks what its kind has.
Result<StudyRecord> analyse(const Database& database);

/// The points at which the engine with the highest line changes between 0 and `most` failures, in order.
std::vector<Crossing> crossings(std::span<const Series> series, double most);

/// What to run, in sentences: the engine with the greatest mean among those that routed every scenario, how much better
/// than the others, where another one passes it, and who failed. The mean is that of its line over 0 to `most` failures
/// where the lines of all engines fit, and else that of what was measured. Stale runs come first.
std::vector<std::string> advise(const Panel& panel);

}  // namespace holdfast::simulate::study
