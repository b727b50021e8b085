#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/status/status.h"
#include "replicate/engine/replica_map.h"
#include "replicate/launch/detect/command.h"
#include "replicate/launch/detect/program.h"
#include "replicate/launch/plan/hosts.h"
#include "replicate/launch/plan/input.h"

namespace holdfast::launch {

/// What the user asked `holdfast run` for.
struct JobRequest {
  std::optional<int> ranks;                      ///< -n; a map file can give it instead
  const config::AnySettings* library = nullptr;  ///< the options of the preloaded library (library_settings())
  std::optional<std::string> launcher;
  std::optional<std::string> launcher_args;  ///< further options for it, as in a shell
  std::optional<std::string> mpi;
  std::optional<std::string> hostfile;
  std::optional<int> slots;
  std::optional<std::string> output;
  std::optional<std::string> json;
  std::optional<std::string> record;  ///< the folder of the trace
  std::int64_t time_limit_ns = 0;     ///< 0: none
  bool keep = false;
  bool dry_run = false;
  bool colocate = false;
  bool same_memory = false;  ///< what was never set has the same contents in all replicas, at the same addresses
  bool hold_output = false;
  bool transport = false;            ///< over the holdfast provider
  std::optional<std::string> rails;  ///< its rails; none: those that it finds
  bool quiet = false;
  std::vector<std::string> application;  ///< program and arguments
};

/// What to do for it. Nothing has been touched yet.
struct JobPlan {
  replicate::ReplicaMap map;
  Program program;
  std::string protocol;
  std::string job;  ///< the job's identity, which stands in all that its processes leave in the run directory
  std::string run_directory;
  std::string placement_text;  ///< for the file run_directory/hosts; empty: none is needed
  InputPlan input;
  bool one_host = true;
  std::int64_t silence_limit_ns = 0;
  std::string ends_because;           ///< why the job ends when a process dies; empty: it goes on, or has one replica
  bool goes_on = false;               ///< when a process dies, without its replica
  bool holds_output = false;          ///< until a majority of the replicas has written it
  bool same_memory = false;           ///< in all replicas
  bool shows_files = false;           ///< what is shown comes from files of the replicas, not from the launcher
  std::string shared_memory_folders;  ///< what the library's folders begin with; empty: it has none
  std::vector<std::string> faults;    ///< injected
  std::string seed;                   ///< of the injected faults; empty without any
  Command command;
};

/// Turns a request into the exact command, or says what is wrong with it. Reads files and the environment and runs the
/// program's loader, scontrol and the launcher's --version; writes nothing. Errors: bad_input, not_found, unavailable.
Result<JobPlan> plan_job(const JobRequest& request);

/// The ranks and replicas of a request: from the map file where there is one, which must then agree with -n and a
/// --replicas that was given. Errors: bad_input, not_found.
Result<replicate::ReplicaMap> plan_map(const JobRequest& request);

}  // namespace holdfast::launch
