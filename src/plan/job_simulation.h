#pragma once

#include <cstdint>

#include "core/random/stream.h"
#include "core/stats/moments.h"
#include "plan/checkpoint.h"
#include "plan/redundancy.h"

namespace holdfast::plan {

/// What many simulated runs of a job gave.
struct SimulatedJob {
  stats::Moments wall_s;
  stats::Moments checkpoint_s;
  stats::Moments recompute_s;
  stats::Moments restart_s;
  stats::Moments interrupts;
  std::uint64_t wrong_answers = 0;  ///< runs whose result a corruption reached unseen
  std::uint64_t events = 0;         ///< failures and corruptions of nodes in all runs
};

/// Runs a job again and again, event by event: single nodes fail and are corrupted, ranks lose replicas and votes, the
/// job falls back to its last checkpoint and restarts with all nodes alive and clean. Shares no formula with
/// checkpoint.h and redundancy.h, and is what they are tested against. A corrupt replica stays corrupt until the next
/// restart; a comparison finds it at once wherever another replica of its rank lives, and the job is interrupted when
/// the clean ones are no majority of the living; a rank with one living replica is not compared, and its corruption
/// reaches the answer unless the work is lost and done again. Interrupts may hit restarts.
///
/// Ends after `runs` runs, or with the run in which `most_events` are exceeded, at least two. Memory: a few bytes a
/// node. At most 8 replicas a rank. Deterministic in the stream.
SimulatedJob simulate_job(const CheckpointedJob& job, std::uint64_t segments, const Redundancy& redundancy,
                          const Hazards& hazards, std::uint64_t runs, std::uint64_t most_events,
                          const random::Stream& stream);

}  // namespace holdfast::plan
