#include "plan/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plan/redundancy.h"

namespace holdfast::plan {
namespace {

std::function<double(double)> exponential(double mean_s) {
  return [mean_s](double t) { return std::exp(-t / mean_s); };
}

// The interval by itself: where the derivative of the closed form is 0, found by bisection, is Daly's to a percent.
TEST(DalyInterval, IsNearTheTrueOptimum) {
  for (double ratio : {0.001, 0.01, 0.1, 0.4}) {
    const CheckpointedJob job{1e6, ratio * 100, 0};
    double best = 0, least = std::numeric_limits<double>::infinity();
    for (double interval = 0.5; interval < 200; interval *= 1.001) {
      const double wall = memoryless_outcome(job, 100, interval).wall_s;
      if (wall < least) {
        least = wall;
        best = interval;
      }
    }
    EXPECT_NEAR(daly_interval_s(job.checkpoint_s, 100) / best, 1, 0.03) << ratio;
    EXPECT_NEAR(memoryless_outcome(job, 100, daly_interval_s(job.checkpoint_s, 100)).wall_s / least, 1, 1e-3);
  }
}

TEST(DalyInterval, IsTheMeanWhenCheckpointsTakeLonger) {
  EXPECT_EQ(daly_interval_s(200, 100), 100);
  EXPECT_EQ(daly_interval_s(300, 100), 100);
}

// J. T. Daly 2006, equation 20, as it stands.
TEST(MemorylessOutcome, AddsUpToDalysClosedForm) {
  const CheckpointedJob job{168 * 3600, 300, 600};
  const double m = 0.438 * 3600, interval = 13.05 * 60;
  const Outcome outcome = memoryless_outcome(job, m, interval);
  const double closed = m * std::exp(600 / m) * std::expm1((interval + 300) / m) * job.work_s / interval;
  EXPECT_NEAR(outcome.wall_s / closed, 1, 1e-12);
  EXPECT_NEAR(outcome.work_s + outcome.checkpoint_s + outcome.recompute_s + outcome.restart_s, outcome.wall_s, 1e-6);
}

TEST(MemorylessOutcome, WithoutInterruptsIsWorkAndCheckpoints) {
  const Outcome outcome = memoryless_outcome({1000, 10, 99}, std::numeric_limits<double>::infinity(), 100);
  EXPECT_DOUBLE_EQ(outcome.wall_s, 1100);
  EXPECT_EQ(outcome.interrupts, 0);
}

TEST(MemorylessOutcome, OfAJobThatCannotEndIsEndless) {
  EXPECT_TRUE(std::isinf(memoryless_outcome({1000, 10, 1e6}, 1, 100).wall_s));
}

TEST(RenewalOutcome, EqualsTheClosedFormWhereInterruptsHaveNoMemory) {
  for (double m : {50.0, 400.0, 1e4}) {
    for (double segments : {1.0, 7.0, 100.0, 3000.0, 9000.0}) {
      const CheckpointedJob job{segments * 60, 8, 25};
      const Outcome closed = memoryless_outcome(job, m, 60);
      const Outcome renewal = renewal_outcome(job, segments, exponential(m), m);
      EXPECT_NEAR(renewal.wall_s / closed.wall_s, 1, 1e-9) << m << " " << segments;
      EXPECT_NEAR(renewal.restart_s / closed.restart_s, 1, 1e-9);
      EXPECT_NEAR(renewal.interrupts / closed.interrupts, 1, 1e-9);
      EXPECT_NEAR(renewal.recompute_s / closed.recompute_s, 1, 1e-6);
    }
  }
}

// A try that always ends at time 10: two segments of 4 fit into the first try, one into each after a restart of 5.
TEST(RenewalOutcome, OfACertainEndByHand) {
  const auto until_10 = [](double t) { return t < 10 ? 1.0 : 0.0; };
  const Outcome outcome = renewal_outcome({12, 1, 5}, 4, until_10, 10);
  // first try: 2 done, ends at 10; second: restart 5, 1 done at 9, ends at 10; third: restart 5, 1 done: 9
  EXPECT_NEAR(outcome.wall_s, 29, 0.2);  // the jump costs the quadrature a little
  EXPECT_NEAR(outcome.interrupts, 2, 1e-12);
  EXPECT_NEAR(outcome.restart_s, 10, 1e-9);
}

TEST(RenewalOutcome, BeyondTheCountedSegmentsContinues) {
  const Redundancy pairs = split_ranks(1e5, 2);
  const Hazards hazards{3.15e7, 0};
  const auto survives = [&](double t) { return survival(pairs, hazards, t); };
  const double m = mean_time_to_interrupt_s(pairs, hazards);
  // per segment, 8,000 must cost what 4,000 do, but for the ends
  const Outcome some = renewal_outcome({4000 * 2000.0, 60, 120}, 4000, survives, m);
  const Outcome more = renewal_outcome({8000 * 2000.0, 60, 120}, 8000, survives, m);
  EXPECT_NEAR(more.wall_s / some.wall_s, 2, 2e-4);
}

TEST(BestOutcome, IsNoWorseThanItsNeighbours) {
  for (double m : {30.0, 300.0, 1e5}) {
    const CheckpointedJob job{5000, 6, 10};
    const Outcome best = best_outcome(job, exponential(m), m);
    for (double segments = 1; segments < 1500; ++segments) {
      EXPECT_GE(memoryless_outcome(job, m, job.work_s / segments).wall_s, best.wall_s * (1 - 1e-9)) << m << segments;
    }
  }
}

TEST(BestOutcome, WithoutInterruptsWritesOneResult) {
  const Outcome best = best_outcome(
      {5000, 6, 10}, [](double) { return 1.0; }, std::numeric_limits<double>::infinity());
  EXPECT_EQ(best.segments, 1);
  EXPECT_NEAR(best.wall_s, 5006, 1e-9);
}

TEST(BestOutcome, OfAJobThatCannotEndIsEndless) {
  EXPECT_TRUE(std::isinf(best_outcome({1000, 100, 1e4}, exponential(1), 1).wall_s));
}

}  // namespace
}  // namespace holdfast::plan
