#pragma once

#include "plan/checkpoint.h"
#include "plan/redundancy.h"

namespace holdfast::plan {

/// What comparison of replicas cannot be trusted with.
struct ComparisonLimits {
  double escape_share = 0;     ///< of corruptions that reach the answer past every message and collective
  double identical_share = 0;  ///< of two corruptions of one rank that look alike and outvote the third
  double digest_bits = 64;
};

/// How often a job is expected to end with a wrong answer that nobody noticed, by cause; rare events, so the numbers
/// are near to chances and add up.
struct SilentErrors {
  double unprotected = 0;  ///< a rank had one living replica when it was corrupted
  double identical = 0;    ///< two of three were corrupted alike
  double collisions = 0;   ///< digests that agree by chance
  double escaped = 0;

  double all() const { return unprotected + identical + collisions + escaped; }
  /// That at least one happens: 1 - e^-all.
  double wrong_answer() const;
};

/// The silent errors of a job with this expected outcome. Only what is kept counts: corruption in work that is lost to
/// an interrupt is lost with it. A rank's replicas that died stay dead until the restart, so the number of unprotected
/// ranks grows with the age of a try; it is averaged over the ages that tries reach. First order in the corruption
/// rate. Model: docs/design/plan.md; what replicas compare: RedMPI sections 2 and 3.2.
SilentErrors silent_errors(const Redundancy& redundancy, const Hazards& hazards, const Outcome& outcome,
                           const ComparisonLimits& limits);

}  // namespace holdfast::plan
