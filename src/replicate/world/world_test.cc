// Worlds by the hundred, and the proof that the oracle is not blind. tools/replication_campaign runs as many more as
// one likes.
#include "replicate/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace holdfast::replicate {
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

/// What the worlds found, and was mended: messages of a cancelled receive that later receives were waiting for;
/// disputes that went on in another receive; a probe of the next leader before it had posted the wildcards of the one
/// before; a cancellation that the next leader inherited; ranks that repeated a reduction alone; a probe of a dead
/// leader whose wildcard's match it had not told; messages of two cancelled receives that changed places.
TEST(World, WhatWasFoundStaysMended) {
  for (const std::uint64_t seed :
       {155U, 7196U, 7455U, 8438U, 8940U, 12578U, 13818U, 209516U, 273559U, 353467U, 600225U}) {
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
