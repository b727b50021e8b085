#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace holdfast::launch {

/// What the processes of a job had counted when it ended early and left no record: the sums over the files
/// `counted-<v>.<k>` of the run directory (process/tally.h), by counter; null without any. Files of another job, or
/// damaged ones, are left out.
nlohmann::ordered_json read_tallies(const std::string& run_directory, const std::string& job);

}  // namespace holdfast::launch
