#include "simulate/study/prepared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "core/scratch/scratch_folder.h"

namespace holdfast::simulate::study {
namespace {

constexpr const char* mixed_study = R"toml([study]
name = "mixed"
[ageing.fast]
link_rate = 0.1
links_per_switch = 4
[[group]]
name = "g"
fabric = ["tree(4,2)", "torus(3,3) hosts=18"]
engine = ["ftree", "dfsssp", "updn", "minhop"]
failures = ["none", "fail-link share 10%"]
ageing = "fast"
years = [2]
traffic = ["exchange", "uniform messages=10"]
seeds = 2
[[group]]
name = "fewer lanes"
fabric = ["torus(3,3) hosts=18"]
engine = ["dfsssp"]
failures = ["fail-link share 10%"]
traffic = ["exchange"]
lanes = 2
seeds = 2
)toml";

ThroughputFile read(const char* text) {
  return read_throughput_file(text, "mixed.toml").value();
}

/// The points one after another through one set of preparations; what each comes to, by itself, beside it.
void expect_as_alone(const ThroughputFile& file, const std::vector<std::size_t>& order, Preparations& shared) {
  for (const std::size_t index : order) {
    const ThroughputPoint& point = file.points[index].point;
    const Finished alone = measure(point, file.options.front().settings.options()).value();
    const Finished together = measure(point, file.options.front().settings.options(), shared).value();
    EXPECT_EQ(together.outcome, alone.outcome) << index;
    EXPECT_EQ(together.result.dump(), alone.result.dump()) << index;
  }
}

TEST(Preparations, ResultsAreThoseOfRunsAlone) {
  const ThroughputFile file = read(mixed_study);
  std::vector<std::size_t> order(file.points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Preparations shared(std::uint64_t{1} << 30);
  expect_as_alone(file, order, shared);
  EXPECT_EQ(shared.damaged(), 2U * (1 + 2 * 2)) << "a fabric: whole once, and two ways to fail with two seeds each";
  EXPECT_EQ(shared.routed(), shared.damaged() * 4 + 2) << "the last group has other lanes";
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  Preparations forgetful(0);
  expect_as_alone(file, order, forgetful);
  EXPECT_GT(forgetful.routed(), shared.routed());
}

TEST(Preparations, WhatIsKeptIsBounded) {
  const ThroughputFile file = read(mixed_study);
  Preparations all(std::uint64_t{1} << 30);
  std::uint64_t largest = 0, before = 0;
  for (const ThroughputFile::Placed& placed : file.points) {
    const std::uint64_t fabrics = all.damaged();
    ASSERT_TRUE(all.of(placed.point).ok());
    if (all.damaged() > fabrics) before = all.bytes();
    largest = std::max(largest, all.bytes() - std::min(before, all.bytes()));
  }
  const std::uint64_t most = all.bytes() / 3;
  ASSERT_GT(most, 2 * largest);
  Preparations some(most);
  for (const ThroughputFile::Placed& placed : file.points) {
    ASSERT_TRUE(some.of(placed.point).ok());
    EXPECT_LE(some.bytes(), most);
  }
  EXPECT_GT(some.damaged(), all.damaged()) << "some were given up and made again";
  Preparations none(0);
  for (const ThroughputFile::Placed& placed : file.points) {
    const auto first = none.of(placed.point);
    const auto second = none.of(placed.point);
    EXPECT_EQ(first.value(), second.value()) << "the last one is kept in any case";
  }
}

TEST(Preparations, TheOneUsedLongestAgoGoesFirst) {
  const ThroughputFile file = read(mixed_study);
  std::vector<const ThroughputPoint*> points;  // three fabrics of one size
  for (const ThroughputFile::Placed& placed : file.points)
    if (placed.point.fabric == "tree(4,2)" && placed.point.engine.engine == "updn" &&
        placed.point.traffic.pattern == Pattern::exchange && points.size() < 3)
      points.push_back(&placed.point);
  ASSERT_EQ(points.size(), 3U);
  Preparations two(0);
  ASSERT_TRUE(two.of(*points[0]).ok());
  Preparations kept(two.bytes() * 5 / 2);
  for (const int step : {0, 1, 0, 2, 0}) ASSERT_TRUE(kept.of(*points[static_cast<std::size_t>(step)]).ok());
  EXPECT_EQ(kept.routed(), 3U) << "point 0 stayed, 1 went";
  ASSERT_TRUE(kept.of(*points[1]).ok());
  EXPECT_EQ(kept.routed(), 4U);
}

TEST(Preparations, ErrorsAreNotKept) {
  const scratch::ScratchFolder folder;
  const std::string path = folder.file("fabric.ibnetdiscover");
  std::ofstream(path) << "nonsense\n";
  ThroughputPoint point = read(mixed_study).points.front().point;
  point.fabric = path;
  Preparations preparations(1 << 20);
  EXPECT_FALSE(preparations.of(point).ok());
  EXPECT_FALSE(preparations.of(point).ok());
  EXPECT_EQ(preparations.bytes(), 0U);
  point.fabric = "tree(4,2)";
  EXPECT_TRUE(preparations.of(point).ok());
}

}  // namespace
}  // namespace holdfast::simulate::study
