#include "replicate/launch/compare/corruption.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <tuple>

#include "replicate/launch/plan/left_file.h"

namespace holdfast::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_lines = 1'000'000;              ///< of all files: damaged ones must not fill the memory
constexpr std::uint64_t most_evidence_bytes = 16U << 20U;  ///< of each
constexpr std::int64_t second_ns = 1'000'000'000;

/// "JOB SECONDS NANOSECONDS struck FAULT 0" or "JOB SECONDS NANOSECONDS wrong RANK REPLICA".
std::optional<Corruption> read_line(const std::string& line, const std::string& job, const ProcessName& witness) {
  std::istringstream words(line);
  std::string said_job;
  std::string kind;
  std::int64_t seconds = -1;
  std::int64_t rest_ns = -1;
  int first = -1;
  int second = -1;
  if (!(words >> said_job >> seconds >> rest_ns >> kind >> first >> second) || said_job != job) return std::nullopt;
  const bool in_time = seconds >= 0 && seconds < std::numeric_limits<std::int64_t>::max() / second_ns - 1 &&
                       rest_ns >= 0 && rest_ns < second_ns;
  if (!in_time || first < 0 || second < 0) return std::nullopt;
  const std::int64_t at_ns = seconds * second_ns + rest_ns;
  if (kind == "struck") return Corruption{at_ns, first, witness.rank, witness.replica};
  if (kind == "wrong") return Corruption{at_ns, -1, first, second};
  return std::nullopt;
}

void add_lines(const std::string& text, const std::string& job, const ProcessName& witness,
               std::vector<Corruption>& seen) {
  std::istringstream lines(text);
  for (std::string line; seen.size() < most_lines && std::getline(lines, line);)
    if (const auto corruption = read_line(line, job, witness)) seen.push_back(*corruption);
}

}  // namespace

std::vector<Corruption> read_corruption(const std::string& run_directory, const std::string& job) {
  std::vector<Corruption> seen;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(run_directory, failed)) {
    const auto witness = process_named(entry.path().filename().string(), "evidence-");
    if (witness) add_lines(read_left_file(entry.path().string(), most_evidence_bytes), job, *witness, seen);
  }
  std::sort(seen.begin(), seen.end(), [](const Corruption& a, const Corruption& b) {
    return std::tie(a.at_ns, a.rank, a.replica) < std::tie(b.at_ns, b.rank, b.replica);
  });
  return seen;
}

std::string corruption_line(const Corruption& corruption, const std::vector<std::string>& faults) {
  const std::string who = "rank " + std::to_string(corruption.rank) + " replica " + std::to_string(corruption.replica);
  if (corruption.fault < 0) return "a wrong copy had come from " + who;
  const bool known = static_cast<std::size_t>(corruption.fault) < faults.size();
  return "the injected " +
         (known ? "'" + faults[static_cast<std::size_t>(corruption.fault)] + "'" : std::string("fault")) +
         " had struck " + who;
}

std::vector<std::string> faults_that_missed(const std::vector<Corruption>& seen,
                                            const std::vector<std::string>& faults) {
  std::vector<std::string> missed;
  for (std::size_t i = 0; i < faults.size(); ++i)
    if (std::none_of(seen.begin(), seen.end(), [i](const Corruption& c) { return c.fault == static_cast<int>(i); }))
      missed.push_back(faults[i]);
  return missed;
}

}  // namespace holdfast::launch
