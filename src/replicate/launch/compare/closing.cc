#include "replicate/launch/compare/closing.h"

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <sstream>

#include "replicate/launch/plan/left_file.h"

namespace holdfast::launch {
namespace {

constexpr std::uint64_t most_statement_bytes = 4096;  ///< of a closing statement that are looked at

struct Closing {
  std::string job;
  std::int64_t output = 0;
  std::int64_t errors = 0;
  bool files = false;
};

std::optional<Closing> read_closing(const std::string& path) {
  std::istringstream file(read_left_file(path, most_statement_bytes));
  Closing closing;
  std::string words[4];
  if (!(file >> words[0] >> closing.job >> words[1] >> closing.output >> words[2] >> closing.errors >> words[3] >>
        closing.files))
    return std::nullopt;
  const bool known = words[0] == "job" && words[1] == "stdout" && words[2] == "stderr" && words[3] == "files";
  return known && closing.output >= 0 && closing.errors >= 0 ? std::optional(closing) : std::nullopt;
}

/// -1 where there is no such file.
std::int64_t size_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// A process that printed nothing has no record.
bool lacks(const std::string& path, std::int64_t bytes) {
  return bytes > 0 && size_of(path) < bytes;
}

}  // namespace

std::string missing_evidence(const std::string& run_directory, const std::string& job, const replicate::ReplicaMap& map,
                             const std::vector<int>& replicas) {
  for (int rank = 0; rank < map.ranks(); ++rank) {
    for (const int replica : replicas) {
      if (replica >= map.degree(rank)) continue;
      const std::string who = "rank " + std::to_string(rank) + " replica " + std::to_string(replica);
      const std::string pair = std::to_string(rank) + "." + std::to_string(replica);
      const auto closing = read_closing(run_directory + "/finished-" + pair);
      if (!closing) return "the closing statement of " + who + " (finished-" + pair + ") is missing or damaged";
      if (closing->job != job) return "the closing statement of " + who + " (finished-" + pair + ") is another job's";
      const std::string base = "rank-" + std::to_string(rank) + ".replica-" + std::to_string(replica);
      const std::string stem = run_directory + "/" + base;
      for (const auto& [ending, bytes] : {std::pair{".out", closing->output}, std::pair{".err", closing->errors}})
        if (lacks(stem + ending, bytes))
          return "the record of what " + who + " printed (" + base + ending + ") is missing or shorter than it was";
      const std::string own = replica == 0 ? "base" : "replica-" + std::to_string(replica);
      if (closing->files && !is_folder(run_directory + "/holdfast-files/" + own))
        return "the files that " + who + " wrote (holdfast-files/" + own + ") are missing";
    }
  }
  return "";
}

}  // namespace holdfast::launch
