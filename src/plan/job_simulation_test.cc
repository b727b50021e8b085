#include "plan/job_simulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "core/stats/confidence.h"

namespace holdfast::plan {
namespace {

constexpr double hour_s = 3600;
constexpr double confidence = 0.999;

struct Case {
  double ranks;
  double degree;
  double node_mtbf_h;
  double corruption_per_h;
  double work_h;
  std::uint64_t segments;
  std::uint64_t runs;
  Crash crash = Crash::rank;
};
void PrintTo(const Case& c, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << c.ranks << " ranks at " << c.degree << ", MTBF " << c.node_mtbf_h << " h, a crash ends the "
       << crash_names[static_cast<std::size_t>(c.crash)];
}

class Agreement : public testing::TestWithParam<Case> {};

void expect_covers(const stats::Moments& simulated, double expected, const char* what) {
  const stats::Interval interval = stats::mean_interval(simulated, confidence).value();
  EXPECT_TRUE(interval.holds(expected)) << what << ": " << expected << " is not in " << interval.low << " to "
                                        << interval.high;
}

// The renewal equation and the simulation share nothing but the description of the job.
TEST_P(Agreement, OfModelAndSimulation) {
  const Case& c = GetParam();
  const CheckpointedJob job{c.work_h * hour_s, 300, 600};
  const Redundancy redundancy = split_ranks(c.ranks, c.degree);
  const Hazards hazards{c.node_mtbf_h * hour_s, c.corruption_per_h / hour_s, c.crash};
  const auto survives = [&](double t) { return survival(redundancy, hazards, t); };
  const Outcome model =
      renewal_outcome(job, static_cast<double>(c.segments), survives, mean_time_to_interrupt_s(redundancy, hazards));
  const SimulatedJob simulated =
      simulate_job(job, c.segments, redundancy, hazards, c.runs, ~0ull, random::Stream(20110).child("agreement"));
  ASSERT_EQ(simulated.wall_s.count(), c.runs);
  expect_covers(simulated.wall_s, model.wall_s, "wall");
  expect_covers(simulated.recompute_s, model.recompute_s, "recompute");
  expect_covers(simulated.restart_s, model.restart_s, "restart");
  expect_covers(simulated.interrupts, model.interrupts, "interrupts");
  EXPECT_NEAR(simulated.checkpoint_s.mean(), model.checkpoint_s, 1e-6);
  // and the interval is narrow enough for the comparison to mean something
  EXPECT_LT(simulated.wall_s.standard_error() / simulated.wall_s.mean(), 0.01);
}

INSTANTIATE_TEST_SUITE_P(Jobs, Agreement,
                         testing::Values(Case{1000, 1, 43800, 0, 168, 63, 20000},    // Table 2
                                         Case{100000, 1, 43800, 0, 168, 773, 2000},  // Table 2
                                         Case{2000, 2, 2000, 0, 168, 60, 2000},      // pairs
                                         Case{100000, 2, 43800, 0, 168, 40, 500},    // section 7, half its size
                                         Case{300, 3, 300, 0, 168, 60, 2000},        // triples
                                         Case{1000, 1.5, 5000, 0, 100, 60, 5000},    // partial
                                         Case{200, 2, 2000, 0, 168, 60, 2000, Crash::world},
                                         Case{100, 3, 500, 0, 168, 60, 2000, Crash::world},
                                         Case{200, 1.5, 5000, 0, 100, 60, 5000, Crash::world},  // ends the job
                                         Case{200, 2, 5000, 0, 168, 60, 2000, Crash::job},
                                         Case{500, 2.5, 800, 0, 100, 40, 2500},    // partial
                                         Case{500, 2, 1e9, 1e-4, 100, 100, 5000},  // detected corruption
                                         Case{500, 3, 1e9, 2e-3, 100, 40, 400}));  // lost votes

TEST(SimulatedJob, EqualsDalysClosedForm) {
  const CheckpointedJob job{168 * hour_s, 300, 600};
  const Redundancy single = split_ranks(10000, 1);
  const Outcome closed = memoryless_outcome(job, 4.38 * hour_s, job.work_s / 210);
  const SimulatedJob simulated = simulate_job(job, 210, single, {43800 * hour_s, 0}, 2000, ~0ull, random::Stream(7));
  expect_covers(simulated.wall_s, closed.wall_s, "wall");
  expect_covers(simulated.recompute_s, closed.recompute_s, "recompute");
  expect_covers(simulated.restart_s, closed.restart_s, "restart");
}

// Nothing is compared at degree 1: the answer is right when no corruption hit what was kept.
TEST(SimulatedJob, CountsWrongAnswersOfAnUnprotectedJob) {
  const CheckpointedJob job{100 * hour_s, 300, 600};
  const Hazards hazards{5000 * hour_s, 1e-4 / hour_s};
  const SimulatedJob simulated = simulate_job(job, 50, split_ranks(100, 1), hazards, 4000, ~0ull, random::Stream(3));
  const stats::Interval interval = stats::proportion_interval(simulated.wrong_answers, 4000, confidence).value();
  // restored state may be hit while it is loaded, which the closed form of the kept time alone leaves out
  const double kept = job.work_s + 50 * job.checkpoint_s;
  const double loaded = simulated.interrupts.mean() * job.restart_s;
  EXPECT_GE(interval.high, 1 - std::exp(-100 * hazards.corruption_rate_per_s * kept));
  EXPECT_LE(interval.low, 1 - std::exp(-100 * hazards.corruption_rate_per_s * (kept + loaded)));
}

TEST(SimulatedJob, NeverAnswersWrongWhileAllReplicasLive) {
  const CheckpointedJob job{100 * hour_s, 300, 600};
  for (double degree : {2.0, 3.0, 4.0}) {
    const SimulatedJob simulated = simulate_job(job, 50, split_ranks(50, degree), {1e30, 1e-4 / hour_s}, 200, ~0ull,
                                                random::Stream(5).child(static_cast<std::uint64_t>(degree)));
    EXPECT_EQ(simulated.wrong_answers, 0u) << degree;
    EXPECT_GT(simulated.events, 0u);
  }
}

TEST(SimulatedJob, KeepsToItsBudgetOfEvents) {
  const SimulatedJob simulated = simulate_job({100 * hour_s, 300, 3000}, 50, split_ranks(1000, 1), {1000 * hour_s, 0},
                                              100000, 5000, random::Stream(1));
  EXPECT_GT(simulated.events, 5000u);
  EXPECT_LT(simulated.events, 10000u);
  EXPECT_LT(simulated.wall_s.count(), 1000u);
}

TEST(SimulatedJob, DependsOnNothingButItsStream) {
  const auto once = [](std::uint64_t seed) {
    return simulate_job({100 * hour_s, 300, 3000}, 50, split_ranks(100, 2), {500 * hour_s, 1e-5 / hour_s}, 20, ~0ull,
                        random::Stream(seed))
        .wall_s.mean();
  };
  EXPECT_EQ(once(1), once(1));
  EXPECT_NE(once(1), once(2));
}

}  // namespace
}  // namespace holdfast::plan
