#include "plan/availability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace holdfast::plan {
namespace {

TEST(Availability, OfMeanTimesAndTheirNines) {
  EXPECT_DOUBLE_EQ(availability(999, 1), 0.999);
  EXPECT_NEAR(nines(availability(999, 1)), 3, 1e-12);
  EXPECT_NEAR(nines(0.9), 1, 1e-12);
}

/// RedMPI section 7: what 7 nines do for a million single nodes 3 do for two million in pairs, and 2 for three.
TEST(Availability, RatingsOfTheReportOnModularRedundancy) {
  const double single = system_availability(1e6, 1, 1 - 1e-7);
  EXPECT_NEAR(single, std::exp(-0.1), 1e-6);
  EXPECT_EQ(std::floor(nines(needed_node_availability(1e6, 1, single)) + 1e-6), 7);
  EXPECT_EQ(std::floor(nines(needed_node_availability(1e6, 2, single))), 3);
  EXPECT_EQ(std::floor(nines(needed_node_availability(1e6, 3, single))), 2);
}

TEST(Availability, TheNeededNodeGivesTheSystem) {
  for (const int degree : {1, 2, 3, 5})
    for (const double system : {0.5, 0.9, 0.999})
      EXPECT_NEAR(system_availability(1000, degree, needed_node_availability(1000, degree, system)), system, 1e-9);
}

/// Nodes that are drawn up or down one by one.
TEST(Availability, AgreesWithNodesThatAreDrawn) {
  std::mt19937_64 random(3);
  std::bernoulli_distribution works(0.9);
  constexpr int systems = 40000;
  int up = 0;
  for (int s = 0; s < systems; ++s) {
    bool all = true;
    for (int rank = 0; rank < 20; ++rank) {
      bool any = false;
      for (int replica = 0; replica < 2; ++replica) any = works(random) || any;
      all = all && any;
    }
    up += all;
  }
  const double expected = system_availability(20, 2, 0.9);
  EXPECT_NEAR(static_cast<double>(up) / systems, expected, 5 * std::sqrt(expected * (1 - expected) / systems));
}

}  // namespace
}  // namespace holdfast::plan
