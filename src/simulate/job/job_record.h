#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/status/exit_code.h"
#include "simulate/job/job_traffic.h"
#include "simulate/packet/record.h"

namespace holdfast::simulate::job {

/// What a replay found of one job, drawn together.
struct JobSummary {
  std::string trace;
  std::uint32_t ranks = 0, hosts = 0;
  bool ended = true;
  Time time_ps = 0;                ///< until its last rank ended, or to what it had come
  std::int64_t recorded_ns = 0;    ///< of the recorded run
  double computing_share = 0;      ///< of the ranks' time; the rest they were in MPI
  double waiting_share = 0;        ///< of it: in MPI, and the processor had nothing to do for a message
  std::vector<std::string> notes;  ///< one line each: what is left out, not received, or waits for ever
};

/// Why the engine of a replicated job ended it, in one line: "rank 1 replica 0 at step 3 of 8, after 0.000012 s: ...".
std::string in_words(const JobIncident& incident);
/// The exit code with which `holdfast run` ends for that.
Exit exit_for(replicate::Incident incident);

/// `job` as it was given to JobTraffic, and its outcome.
JobSummary summarise(const Job& job, const JobOutcome& outcome);

/// Lines for people, below those of the network's record.
std::string to_text(const JobSummary& summary, const JobOutcome& outcome, const Protocol& protocol,
                    const Protection& protection = {});

/// For the record of the simulation, in the array "jobs".
nlohmann::ordered_json to_json(const JobSummary& summary, const Job& job, const JobOutcome& outcome);

}  // namespace holdfast::simulate::job
