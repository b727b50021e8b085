#include "replicate/mpi/life/exit_status.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/job.h"
#include "replicate/process/liveness.h"
#include "replicate/process/program.h"

namespace holdfast::replicate {

namespace {

pid_t comparing = 0;  // this process; a child of it ends for itself

std::string path_of(int replica) {
  return std::string(run_directory()) + "/status-" + std::to_string(runtime().rank) + "." + std::to_string(replica);
}

std::optional<int> left_by(int replica) {
  std::ifstream file(path_of(replica));
  int status = 0;
  std::string job;
  const bool whole = static_cast<bool>(file >> status) && (job_identity().empty() || file >> job);
  return whole && job == job_identity() ? std::optional(status) : std::nullopt;
}

/// By replica; empty when one of them left none in time.
std::vector<int> statuses_of_all() {
  const Runtime& state = runtime();
  const std::uint64_t limit_ns = steady_now_ns() + static_cast<std::uint64_t>(state.options.silence_limit_ns);
  std::vector<int> statuses;
  for (int k = 0; k < state.degree;) {
    if (!state.here(k)) {
      ++k;
      continue;
    }
    if (const auto status = left_by(k)) {
      statuses.push_back(*status);
      ++k;
      continue;
    }
    if (steady_now_ns() > limit_ns) return {};
    const timespec moment{0, 2'000'000};
    ::nanosleep(&moment, nullptr);
  }
  return statuses;
}

std::string list(const std::vector<int>& statuses) {
  std::string text;
  for (std::size_t k = 0; k < statuses.size(); ++k) {
    text += (k ? "; replica " : "replica ") + std::to_string(k) + ": " + std::to_string(statuses[k]);
  }
  return text;
}

}  // namespace

void compare_exit_statuses() {
  if (runtime().verifying && run_directory()) comparing = real_process_id();
}

namespace {

int settled_status(int status) {
  if (comparing == 0 || comparing != real_process_id()) return status;
  comparing = 0;
  const Depth inside;
  status &= 0xff;  // what the kernel keeps of it
  if (!leave_status(path_of(runtime().replica), status) || status == 0) return status;
  const std::vector<int> all = statuses_of_all();
  const auto alike = std::count(all.begin(), all.end(), status);
  if (all.empty() || alike == static_cast<long>(all.size())) return status;
  const std::string what =
      "rank " + std::to_string(runtime().rank) + " ended with different statuses (" + list(all) + ")";
  for (const int other : all) {
    if (2 * std::count(all.begin(), all.end(), other) <= static_cast<long>(all.size())) continue;
    if (other != status) (void)report_incident(Incident::outvoted, what + ": that of most replicas is the job's");
    return other;
  }
  (void)report_incident(Incident::uncorrected, what + ", which of them is wrong cannot be told");
  return status;
}

}  // namespace

int settle_exit_status(int status) {
  const int settled = settled_status(status);
  say_exit(settled);
  return settled;
}

}  // namespace holdfast::replicate
