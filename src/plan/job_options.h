#pragma once

#include <vector>

#include "plan/checkpoint.h"
#include "plan/corruption.h"
#include "plan/recommend.h"
#include "plan/redundancy.h"

namespace holdfast::plan {

/// A job at one degree of redundancy on the machine as it is.
struct JobOption {
  double degree = 1;
  Redundancy redundancy;
  CheckpointedJob job;  ///< its work includes what comparing costs, and fewer ranks where replicas take their nodes
  Hazards hazards;
  Outcome outcome;
  SilentErrors errors;
  double useful_node_s = 0;  ///< the job's work alone, times its nodes

  double node_s() const { return outcome.wall_s * redundancy.nodes(); }
  double efficiency() const { return useful_node_s / node_s(); }
};

/// The job at degrees 1, 1.5, 2, 2.5 and 3. Where the machine has not nodes enough for all replicas, the job gets fewer
/// ranks, and takes longer in proportion.
std::vector<JobOption> job_options(const Inputs& inputs);

/// The option to choose: of those whose chance of a wrong answer is acceptable the one with the least node-hours, or
/// the shortest, by the job's aim; when none is acceptable, the one with the least chance, and `acceptable` says so. No
/// option that never ends is chosen unless there is no other.
struct Choice {
  std::size_t index = 0;
  bool acceptable = true;
  bool ends = true;
};
Choice choose(const Machine& machine, const std::vector<JobOption>& options);

}  // namespace holdfast::plan
