#include "plan/redundancy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace holdfast::plan {
namespace {

constexpr double year_s = 8760.0 * 3600;

TEST(SplitRanks, GivesPartOfTheRanksOneReplicaMore) {
  const Redundancy pairs = split_ranks(100, 2);
  EXPECT_EQ(pairs.low_replicas, 2);
  EXPECT_EQ(pairs.ranks_low, 100);
  EXPECT_EQ(pairs.nodes(), 200);
  const Redundancy some = split_ranks(101, 1.25);
  EXPECT_EQ(some.ranks_high, 25);
  EXPECT_EQ(some.nodes(), 126);
  EXPECT_EQ(some.ranks(), 101);
}

TEST(Survival, OfUnreplicatedRanksIsExponential) {
  const Redundancy single = split_ranks(1000, 1);
  EXPECT_DOUBLE_EQ(survival(single, {year_s, 0}, 3600), std::exp(-1000.0 * 3600 / year_s));
  EXPECT_NEAR(mean_time_to_interrupt_s(single, {year_s, 0}) / (year_s / 1000), 1, 1e-10);
}

// One rank is small enough to write all states down.
TEST(Survival, OfOneRankByHand) {
  const double p = std::exp(-0.3);
  EXPECT_NEAR(survival_of_crashes(split_ranks(1, 2), 1, 0.3), 2 * p - p * p, 1e-15);
  EXPECT_NEAR(survival_of_crashes(split_ranks(1, 3), 1, 0.3), 1 - std::pow(1 - p, 3), 1e-15);
  EXPECT_NEAR(survival_of_votes(split_ranks(1, 1), 1, 0.3), 1, 0);
  EXPECT_NEAR(survival_of_votes(split_ranks(1, 2), 1, 0.3), p * p, 1e-15);
  EXPECT_NEAR(survival_of_votes(split_ranks(1, 3), 1, 0.3), p * p * p + 3 * p * p * (1 - p), 1e-15);
  EXPECT_NEAR(survival_of_votes(split_ranks(1, 4), 1, 0.3), std::pow(p, 4) + 4 * p * p * p * (1 - p), 1e-15);
}

TEST(Survival, OfWhatACrashTakesWithIt) {
  const Redundancy pairs = split_ranks(10, 2);
  const double alone = std::exp(-10 * 0.01);  // ten nodes, each after a hundredth of its mean time
  EXPECT_NEAR(survival_of_crashes(pairs, 100, 1, Crash::world), 1 - (1 - alone) * (1 - alone), 1e-15);
  EXPECT_NEAR(survival_of_crashes(pairs, 100, 1, Crash::job), alone * alone, 1e-15);
  EXPECT_GT(survival_of_crashes(pairs, 100, 1), survival_of_crashes(pairs, 100, 1, Crash::world));
  EXPECT_NEAR(survival_of_crashes(split_ranks(10, 1), 100, 1, Crash::world), alone, 1e-15);
  EXPECT_EQ(crash_of(split_ranks(10, 1.5), Crash::world), Crash::job) << "no whole replica can be taken out";
}

TEST(Survival, OfPartialDegreeIsTheProductOfItsParts) {
  const Redundancy some = split_ranks(1000, 1.4);
  EXPECT_NEAR(survival(some, {1000, 0}, 2),
              survival_of_crashes(split_ranks(600, 1), 1000, 2) * survival_of_crashes(split_ranks(400, 2), 1000, 2),
              1e-14);
}

// Means of one rank: theta (1 + 1/2 + ... + 1/r); of many pairs near theta sqrt(pi / 4N) (birthday problem).
TEST(MeanTimeToCrash, EqualsKnownAnswers) {
  EXPECT_NEAR(mean_time_to_crash_s(1, 1, 7), 7, 1e-12);
  EXPECT_NEAR(mean_time_to_crash_s(1, 2, 7), 7 * 1.5, 1e-12);
  EXPECT_NEAR(mean_time_to_crash_s(1, 3, 7), 7 * (1 + 0.5 + 1.0 / 3), 1e-12);
  EXPECT_NEAR(mean_time_to_crash_s(1e6, 2, 1) / std::sqrt(std::numbers::pi / 4e6), 1, 1e-3);
}

TEST(MeanTimeToInterrupt, EqualsTheClosedForm) {
  for (int degree : {1, 2, 3, 4}) {
    for (double ranks : {1.0, 10.0, 1e3, 1e5, 1e6}) {
      const double closed = mean_time_to_crash_s(ranks, degree, year_s);
      EXPECT_NEAR(mean_time_to_interrupt_s(split_ranks(ranks, degree), {year_s, 0}) / closed, 1, 1e-8)
          << degree << " " << ranks;
    }
  }
}

TEST(MeanTimeToInterrupt, CountsDetectedCorruption) {
  const Hazards only_corruption{std::numeric_limits<double>::infinity(), 1e-9};
  EXPECT_NEAR(mean_time_to_interrupt_s(split_ranks(1000, 2), only_corruption) * 2000 * 1e-9, 1, 1e-9);
  EXPECT_TRUE(std::isinf(mean_time_to_interrupt_s(split_ranks(1000, 1), only_corruption)));
  EXPECT_TRUE(std::isinf(mean_time_to_interrupt_s(split_ranks(1000, 2), {only_corruption.node_mtbf_s, 0})));
}

}  // namespace
}  // namespace holdfast::plan
