#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicate/engine/replica_map.h"

namespace holdfast::launch {

/// With what the processes that the launcher started ended, where a script starts the program: its shells leave it as
/// `launched-<v>.<k>` (replicate/process/streams.h). The first of the ranks' that is not 0, by what most of the given
/// replicas left. Nothing where one of them left none that is of this job.
std::optional<int> launched_status(const std::string& run_directory, const std::string& job,
                                   const replicate::ReplicaMap& map, const std::vector<int>& replicas);

}  // namespace holdfast::launch
