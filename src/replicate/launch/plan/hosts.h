#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::launch {

/// A host and how many processes it may run.
struct Host {
  std::string name;
  int slots = 1;
  friend bool operator==(const Host&, const Host&) = default;
};

/// Reads a host file's text: one host a line, "name", "name slots=4" (Open MPI; max_slots is allowed and ignored) or
/// "name:4" (hydra); # starts a comment. A host named again gets the slots of both lines. `name` is the file's name in
/// errors, which give line and column. Error: bad_input, also for 2^31 slots in all.
Result<std::vector<Host>> parse_hostfile(std::string_view text, std::string_view name);

/// Reads SLURM_TASKS_PER_NODE or SLURM_JOB_CPUS_PER_NODE: "2(x3),1" is 2, 2, 2, 1. Error: bad_input,
/// also for more than a million hosts.
Result<std::vector<int>> parse_slurm_counts(std::string_view text);

/// The hosts of the Slurm allocation that this process is in: names from `scontrol show hostnames`, slots from
/// SLURM_TASKS_PER_NODE or else SLURM_JOB_CPUS_PER_NODE. Empty outside an allocation. Errors: unavailable, bad_input.
Result<std::vector<Host>> slurm_hosts();

/// Cores that this process may use (its affinity mask), at least 1.
int usable_cores();

}  // namespace holdfast::launch
