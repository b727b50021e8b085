#include "replicate/launch/plan/recording.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "record/rank_files.h"

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

/// "0-3,7".
std::string ranges(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t at = 0; at < numbers.size();) {
    std::size_t end = at + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[at]);
    if (end - at > 1) text += "-" + std::to_string(numbers[end - 1]);
    at = end;
  }
  return text;
}

}  // namespace

Result<std::vector<Variable>> recording_variables(const std::string& folder, const replicate::ReplicaMap& map) {
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  const bool taken = found.type() == fs::file_type::directory ? !record::may_be_recorded_to(folder)
                                                              : found.type() != fs::file_type::not_found;
  if (taken || folder.empty())
    return Status(Code::bad_input, "reading --record " + folder,
                  folder.empty() ? "the name is empty" : "there is something that is no recording",
                  "name a folder that is not there yet");
  std::vector<int> physical_ranks;
  for (int rank = 0; rank < map.ranks(); ++rank) physical_ranks.push_back(map.physical_rank(rank, 0));
  return std::vector<Variable>{{"HOLDFAST_RECORD_FOLDER", fs::absolute(folder, error).string()},
                               {"HOLDFAST_RECORD_PROCESSES", ranges(physical_ranks)}};
}

Result<RecordingFolder> RecordingFolder::take(const std::string& folder) {
  const std::string taking = "making the folder " + folder + " of --record";
  std::error_code error;
  fs::create_directories(folder, error);
  RecordingFolder taken(error ? -1 : ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!error && taken.lock_ < 0) error = std::error_code(errno, std::generic_category());
  // A file system without locks (some network file systems) is no reason not to record: what another job has done to
  // the files is seen at the end.
  if (!error && ::flock(taken.lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Status(Code::bad_input, taking, "another job is recording to it", "name another folder");
  if (!error && !record::may_be_recorded_to(folder))
    return Status(Code::bad_input, taking, "there is something that is no recording",
                  "name a folder that is not there yet");
  std::vector<fs::path> old;
  if (!error)
    for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
         entries.increment(error))
      old.push_back(entries->path());
  for (const fs::path& path : old)
    if (!error) fs::remove(path, error);
  if (!error) return taken;
  return Status(Code::io, taking, error.message(), "name another folder");
}

RecordingFolder::~RecordingFolder() {
  if (lock_ >= 0) ::close(lock_);
}

Recorded find_recorded(const std::string& folder, const std::string& job, int ranks) {
  Recorded recorded;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string path = folder + "/" + record::rank_file_name(static_cast<std::uint64_t>(rank));
    const record::RankFileState state = record::rank_file_state(path, job);
    if (state != record::RankFileState::whole && state != record::RankFileState::cut) continue;
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    ++recorded.ranks;
    recorded.cut += state == record::RankFileState::cut;
    if (!error) recorded.bytes += bytes;
  }
  return recorded;
}

}  // namespace holdfast::launch
