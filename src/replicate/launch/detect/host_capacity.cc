#include "replicate/launch/detect/host_capacity.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "core/memory/available.h"
#include "core/output/amounts.h"

namespace holdfast::launch {
namespace {

/// The kernel's process numbers, and what the user may have of them.
std::uint64_t most_processes_here() {
  std::uint64_t most = 32'768;
  std::ifstream("/proc/sys/kernel/pid_max") >> most;
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    most = std::min<std::uint64_t>(most, limit.rlim_cur);
  return most;
}

}  // namespace

Status check_capacity(std::uint64_t processes, std::uint64_t most_processes, std::uint64_t available) {
  const std::string doing = "planning " + output::grouped(processes) + " processes on this host";
  const std::string remedy = "ask for fewer ranks or replicas, or give more hosts with --hostfile";
  if (processes > most_processes)
    return {Code::bad_input, doing, "it can have " + output::grouped(most_processes), remedy};
  return memory::check_estimate(doing, memory::estimate_product(processes, least_process_bytes), remedy, available);
}

Status check_capacity(std::uint64_t processes, bool one_host) {
  return one_host ? check_capacity(processes, most_processes_here(), memory::available_bytes()) : Status();
}

}  // namespace holdfast::launch
