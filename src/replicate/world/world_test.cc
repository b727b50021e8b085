// Worlds by the hundred, and the proof that the oracle is not blind. tools/replication_campaign runs as many more as
// one likes.
#include "replicate/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

namespace holdfast::replicate {

// In reports, which would show its bytes otherwise.
static void PrintTo(const PlantedName& planted, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << planted.name;
}

namespace {

std::string complaints(const WorldReport& report) {
  std::string text = draw_plan(report.seed).describe();
  for (const std::string& complaint : report.complaints) text += "  " + complaint + "\n";
  return text + "  again: replication_campaign --seed " + std::to_string(report.seed);
}

class Worlds : public testing::TestWithParam<int> {};

TEST_P(Worlds, KeepTheirPromises) {
  Counters counters;
  std::uint64_t deliveries = 0;
  std::uint64_t failed = 0;
  for (int i = 0; i < 250; ++i) {
    const WorldReport report =
        run_world(static_cast<std::uint64_t>(GetParam()) * 250 + static_cast<std::uint64_t>(i) + 1);
    EXPECT_TRUE(report.good()) << complaints(report);
    counters += report.counters;
    deliveries += report.deliveries;
    failed += report.failed ? 1 : 0;
  }
  // A group in which nothing went wrong would prove nothing.
  EXPECT_GT(deliveries, 2000U);
  EXPECT_GT(failed, 10U);
  for (const Count must : {Count::corrections, Count::disputes, Count::statements, Count::records_repaired,
                           Count::unverified, Count::payload_bytes, Count::decisions}) {
    EXPECT_GT(counters[must], 0U) << counter_rows[static_cast<std::size_t>(must)].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Worlds, testing::Range(0, 8));

TEST(World, IsTheSameAgain) {
  std::string one;
  std::string two;
  (void)run_world(5, Planted::none, [&](const std::string& event) { one += event + "\n"; });
  (void)run_world(5, Planted::none, [&](const std::string& event) { two += event + "\n"; });
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(one, two);
}

/// Only the program of one process is another one.
TEST(Plans, DivergeInOneProcess) {
  std::uint64_t seed = 1;
  while (!draw_plan(seed).divergence) ++seed;
  const Plan plan = draw_plan(seed);
  for (int rank = 0; rank < plan.ranks(); ++rank)
    for (int k = 0; k < plan.degree(); ++k) {
      const auto differs = [&](std::size_t n, const std::vector<Step>& steps) {
        return n >= steps.size() || steps[n].kind != plan.programs[static_cast<std::size_t>(rank)][n].kind ||
               steps[n].which != plan.programs[static_cast<std::size_t>(rank)][n].which;
      };
      const std::vector<Step> steps = plan.program(rank, k);
      const std::vector<Step>& planned = plan.programs[static_cast<std::size_t>(rank)];
      bool other = steps.size() != planned.size();
      for (std::size_t n = 0; n < planned.size() && !other; ++n) other = differs(n, steps);
      EXPECT_EQ(other, rank == plan.divergence->rank && k == plan.divergence->replica) << rank << "." << k;
    }
}

/// A program that goes another way in one replica is noticed, or waits, or makes no difference: all three happen, and
/// the others get what is theirs in each.
TEST(World, ProgramsThatDivergeHarmNobody) {
  int noticed = 0;
  int silent = 0;
  int harmless = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    if (!draw_plan(seed).divergence) continue;
    const WorldReport report = run_world(seed);
    EXPECT_TRUE(report.good()) << complaints(report);
    ++(report.failed ? noticed : report.silent ? silent : harmless);
  }
  EXPECT_GT(noticed, 5);
  EXPECT_GT(silent, 5);
  EXPECT_GT(harmless, 5);
}

/// What completes a receive is a step of the thread that posted it, and all threads come to the same joins.
TEST(Plans, GiveEachThreadItsOwnReceives) {
  int ordered = 0;
  int apart = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Plan plan = draw_plan(seed);
    if (!plan.threads.many()) continue;
    ++(plan.threads.ordered ? ordered : apart);
    EXPECT_TRUE(plan.deaths.empty() || !plan.threads.ordered) << seed;
    for (const std::vector<Step>& program : plan.programs) {
      std::map<std::size_t, int> poster;
      for (const Step& step : program) {
        EXPECT_LT(step.thread, plan.threads.count) << seed;
        if (step.kind == Step::Kind::post) poster[step.which] = step.thread;
        if (step.kind == Step::Kind::wait || step.kind == Step::Kind::test || step.kind == Step::Kind::cancel) {
          EXPECT_EQ(step.thread, poster.at(step.which)) << seed;
        }
      }
    }
  }
  EXPECT_GT(ordered, 10);
  EXPECT_GT(apart, 5);
}

/// Threads that share communicators, and those that have their own, in worlds without anything else that could end
/// them: all come to their end, with the same messages in the same places.
TEST(World, ThreadsOfReplicasAgree) {
  int ordered = 0;
  int apart = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Plan plan = draw_plan(seed);
    if (!plan.threads.many() || plan.divergence || plan.broken_record || !plan.faults.empty() ||
        !plan.wrong_blocks.empty() || !plan.wrong_elements.empty() || !plan.wrong_writes.empty() ||
        !plan.wrong_puts.empty() || !plan.deaths.empty())
      continue;
    const WorldReport report = run_world(seed);
    EXPECT_TRUE(report.good()) << complaints(report);
    EXPECT_TRUE(!report.failed || report.incident == refused_matched_probe) << report.incident;
    ++(plan.threads.ordered ? ordered : apart);
  }
  EXPECT_GT(ordered, 5);
  EXPECT_GT(apart, 2);
}

/// Two replicas that report a difference and go on, and elements with gaps, are among the worlds.
TEST(World, GoesOnAfterADifference) {
  int differences = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    if (!draw_plan(seed).goes_on) continue;
    const WorldReport report = run_world(seed);
    EXPECT_TRUE(report.good()) << complaints(report);
    differences += report.counters[Count::uncorrected] > 0 && !report.failed ? 1 : 0;
  }
  EXPECT_GT(differences, 5);
}

/// Windows with wrong bytes in a minority are put right, before they are put and where they lie.
TEST(World, WindowsAreCorrected) {
  int corrected = 0;
  for (std::uint64_t seed = 1; seed <= 1200; ++seed) {
    const Plan plan = draw_plan(seed);
    if (plan.wrong_puts.empty() || !plan.faults.empty() || !plan.wrong_blocks.empty() || !plan.wrong_elements.empty() ||
        !plan.wrong_writes.empty())
      continue;
    const WorldReport report = run_world(seed);
    EXPECT_TRUE(report.good()) << complaints(report);
    corrected += report.counters[Count::corrections] > 0 && !report.failed ? 1 : 0;
  }
  EXPECT_GT(corrected, 0);
}

/// What the worlds found, and was mended: messages of a cancelled receive that later receives were waiting for;
/// disputes that went on in another receive; a probe of the next leader before it had posted the wildcards of the one
/// before; a cancellation that the next leader inherited; ranks that repeated a reduction alone; a probe of a dead
/// leader whose wildcard's match it had not told; messages of two cancelled receives that changed places; a word of the
/// next leader that went with what the one before had left; messages that were delivered, and not known where.
TEST(World, WhatWasFoundStaysMended) {
  for (const std::uint64_t seed : {155U, 7196U, 7455U, 8438U, 8940U, 12578U, 13818U, 209516U, 273559U, 353467U, 600225U,
                                   14120U, 6877U, 1430U, 27745U}) {
    const WorldReport report = run_world(seed);
    EXPECT_TRUE(report.good()) << complaints(report);
  }
}

class Oracles : public testing::TestWithParam<PlantedName> {};

TEST_P(Oracles, SeePlantedFaults) {
  std::uint64_t seed = 1;
  while (seed <= GetParam().within && run_world(seed, GetParam().planted).good()) ++seed;
  EXPECT_LE(seed, GetParam().within) << "no world noticed";
}

INSTANTIATE_TEST_SUITE_P(Planted, Oracles, testing::ValuesIn(planted_names()), [](const auto& each) {
  std::string name(each.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace holdfast::replicate
