#include "replicate/launch/report/launched.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "replicate/launch/plan/left_file.h"

namespace holdfast::launch {
namespace {

constexpr std::uint64_t most_status_bytes = 4096;  ///< of a file that are looked at

std::optional<int> status_in(const std::string& path, const std::string& job) {
  std::istringstream file(read_left_file(path, most_status_bytes));
  int status = 0;
  std::string of;
  const bool whole = static_cast<bool>(file >> status >> of);
  return whole && of == job && status >= 0 && status <= 255 ? std::optional(status) : std::nullopt;
}

}  // namespace

std::optional<int> launched_status(const std::string& run_directory, const std::string& job,
                                   const replicate::ReplicaMap& map, const std::vector<int>& replicas) {
  int whole = 0;
  for (int rank = 0; rank < map.ranks(); ++rank) {
    std::map<int, int> said;
    for (const int replica : replicas) {
      if (replica >= map.degree(rank)) continue;
      const auto status =
          status_in(run_directory + "/launched-" + std::to_string(rank) + "." + std::to_string(replica), job);
      if (!status) return std::nullopt;
      ++said[*status];
    }
    const auto most =
        std::max_element(said.begin(), said.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == said.end()) return std::nullopt;
    if (whole == 0) whole = most->first;
  }
  return whole;
}

}  // namespace holdfast::launch
