#pragma once

#include <string>
#include <vector>

#include "core/status/status.h"
#include "replicate/engine/replica_map.h"
#include "replicate/launch/detect/command.h"

namespace holdfast::launch {

/// What the recording library is told: where the trace goes, and which processes record. With replicas, replica 0 of
/// each rank does. Error: bad_input, where `folder` holds something that is no recording.
Result<std::vector<Variable>> recording_variables(const std::string& folder, const replicate::ReplicaMap& map);

/// Makes the folder, and removes the recording that it holds. Error: io.
Status prepare_recording(const std::string& folder);

/// What a job left.
struct Recorded {
  int ranks = 0;  ///< that left a file
  std::uint64_t bytes = 0;
};
Recorded find_recorded(const std::string& folder, int ranks);

}  // namespace holdfast::launch
