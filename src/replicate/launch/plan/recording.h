#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/status/status.h"
#include "replicate/engine/replica_map.h"
#include "replicate/launch/detect/command.h"

namespace holdfast::launch {

/// What the recording library is told: where the trace goes, and which processes record. With replicas, replica 0 of
/// each rank does. Error: bad_input, where `folder` holds something that is no recording.
Result<std::vector<Variable>> recording_variables(const std::string& folder, const replicate::ReplicaMap& map);

/// The folder of a recording, of which one job at a time has the lock (flock on the folder itself).
class RecordingFolder {
 public:
  /// Makes the folder, or takes one that nobody records to, and removes the recording that it holds. Errors: bad_input,
  /// another job has it, or it holds something that is no recording, and then nothing was touched; io.
  static Result<RecordingFolder> take(const std::string& folder);
  RecordingFolder(RecordingFolder&& other) noexcept : lock_(std::exchange(other.lock_, -1)) {}
  RecordingFolder& operator=(RecordingFolder&&) = delete;
  RecordingFolder(const RecordingFolder&) = delete;
  ~RecordingFolder();

 private:
  explicit RecordingFolder(int lock) : lock_(lock) {}
  int lock_;  ///< descriptor of the folder
};

/// What a job left.
struct Recorded {
  int ranks = 0;  ///< that left a file of this job
  int cut = 0;    ///< of them: whose file has no end
  std::uint64_t bytes = 0;
};
Recorded find_recorded(const std::string& folder, const std::string& job, int ranks);

}  // namespace holdfast::launch
