#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/numbers.h"
#include "core/config/settings.h"
#include "fabric/topology/fabric.h"
#include "simulate/job/job_traffic.h"

namespace holdfast::cli {

/// What `holdfast simulate` is told of recorded programs. Lists have one entry for all jobs, or one for each.
struct JobFlags {
  std::vector<std::string> traces;
  std::vector<std::string> place, hosts, host_files;
  std::vector<std::uint32_t> ranks_per_host;
  std::vector<double> compute_scale;
  std::vector<int> replicas;
  std::vector<std::string> replica_protocols, place_replicas;
  std::vector<std::string> inject, collectives;
  std::uint64_t seed = 1;
  config::Settings<simulate::job::Protocol> protocol{simulate::job::protocol_table()};
  config::Settings<simulate::job::ReplicationCosts> costs{simulate::job::replication_costs_table()};
  Status status;  ///< the first error of an mpi.* flag

  /// Whether the traces are recordings, which are folders.
  bool are_recordings() const;
};

/// Adds --trace, what places ranks, and the options of component "mpi".
CLI::Option* add_job_flags(CLI::App& command, JobFlags& flags);

/// Reads the recordings and places their ranks. Errors: bad_input, not_found, io.
Result<std::vector<simulate::job::Job>> open_jobs(const JobFlags& flags, const fabric::Fabric& fabric);

/// The code for a job that its engine ended: as `holdfast run` would have ended. 0: none was.
int incident_exit(const simulate::job::JobTraffic& traffic);

/// What became of them, in words and for the record, and which parameters of MPI rest on a guess.
void show_jobs(const JobFlags& flags, const simulate::job::JobTraffic& traffic, bool words,
               nlohmann::ordered_json* json);

}  // namespace holdfast::cli
