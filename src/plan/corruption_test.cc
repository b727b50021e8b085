#include "plan/corruption.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/stats/confidence.h"
#include "plan/job_simulation.h"

namespace holdfast::plan {
namespace {

constexpr double hour_s = 3600;

Outcome outcome_of(const CheckpointedJob& job, double segments, const Redundancy& redundancy, const Hazards& hazards) {
  return renewal_outcome(
      job, segments, [&](double t) { return survival(redundancy, hazards, t); },
      mean_time_to_interrupt_s(redundancy, hazards));
}

TEST(SilentErrors, OfUnreplicatedRanksIsRateTimesTime) {
  const Outcome outcome{1, 100, 90, 10, 0, 0, 0};
  const SilentErrors errors = silent_errors(split_ranks(1000, 1), {1e9, 1e-6}, outcome, {});
  EXPECT_DOUBLE_EQ(errors.all(), 1000 * 1e-6 * 100);
  EXPECT_DOUBLE_EQ(errors.wrong_answer(), 1 - std::exp(-0.1));
}

TEST(SilentErrors, OfPairsThatNeverDieAreTheComparisonsOwn) {
  const Outcome outcome{1, 100, 90, 10, 0, 0, 0};
  const SilentErrors errors = silent_errors(split_ranks(1000, 2), {1e300, 1e-6}, outcome, {0.01, 1, 20});
  EXPECT_NEAR(errors.unprotected, 0, 1e-200);
  EXPECT_EQ(errors.identical, 0);
  EXPECT_DOUBLE_EQ(errors.collisions, 2000 * 1e-6 * 100 / 1048576);
  EXPECT_DOUBLE_EQ(errors.escaped, 1000 * 1e-6 * 100 * 0.01);
}

// Triples for a time short beside everything: 3 pairs of replicas, each corrupt with chance rate^2 t^2 / 2, twice
// ordered: N 3 (rate t)^2.
TEST(SilentErrors, OfTriplesCorruptedAlikeByHand) {
  const Outcome outcome{1, 100, 100, 0, 0, 0, 0};
  const SilentErrors errors = silent_errors(split_ranks(1000, 3), {1e300, 1e-9}, outcome, {0, 0.5, 64});
  EXPECT_NEAR(errors.identical / (0.5 * 1000 * 3 * 1e-7 * 1e-7), 1, 1e-5);
}

TEST(SilentErrors, AreNoneWithoutCorruption) {
  EXPECT_EQ(silent_errors(split_ranks(10, 2), {1e6, 0}, {1, 100, 90, 10, 0, 0, 0}, {1, 1, 8}).wrong_answer(), 0);
}

// Whole jobs, event by event: chances of a wrong answer at several degrees, where replicas die and are corrupted.
TEST(SilentErrors, AgreeWithSimulatedJobs) {
  struct Case {
    double degree;
    double node_mtbf_h;
    double corruption_per_h;
  };
  const CheckpointedJob job{200 * hour_s, 300, 60};
  for (const Case& c : {Case{1, 1e5, 1e-5}, Case{1.5, 1e4, 1e-5}, Case{2, 2000, 1e-5}, Case{3, 800, 1e-5}}) {
    const Redundancy redundancy = split_ranks(100, c.degree);
    const Hazards hazards{c.node_mtbf_h * hour_s, c.corruption_per_h / hour_s};
    const Outcome outcome = outcome_of(job, 40, redundancy, hazards);
    const double chance = silent_errors(redundancy, hazards, outcome, {}).wrong_answer();
    constexpr std::uint64_t runs = 20000;
    const SimulatedJob simulated = simulate_job(job, 40, redundancy, hazards, runs, ~0ull, random::Stream(17));
    const stats::Interval interval = stats::proportion_interval(simulated.wrong_answers, runs, 0.999).value();
    EXPECT_TRUE(interval.holds(chance)) << c.degree << ": " << chance << " is not in " << interval.low << " to "
                                        << interval.high;
    EXPECT_GT(simulated.wrong_answers, 20u) << c.degree;  // enough for the comparison to mean something
  }
}

}  // namespace
}  // namespace holdfast::plan
