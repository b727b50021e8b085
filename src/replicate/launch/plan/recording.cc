#include "replicate/launch/plan/recording.h"

#include <algorithm>
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

Status prepare_recording(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !record::may_be_recorded_to(folder)) error = std::make_error_code(std::errc::file_exists);
  std::vector<fs::path> old;
  if (!error)
    for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
         entries.increment(error))
      old.push_back(entries->path());
  for (const fs::path& path : old)
    if (!error) fs::remove(path, error);
  if (!error) return {};
  return {Code::io, "making the folder " + folder + " of --record", error.message(), "name another folder"};
}

Recorded find_recorded(const std::string& folder, int ranks) {
  Recorded recorded;
  for (int rank = 0; rank < ranks; ++rank) {
    std::error_code error;
    const auto bytes = fs::file_size(folder + "/" + record::rank_file_name(static_cast<std::uint64_t>(rank)), error);
    if (error) continue;
    ++recorded.ranks;
    recorded.bytes += bytes;
  }
  return recorded;
}

}  // namespace holdfast::launch
