#include "simulate/collective/quotient.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random/stream.h"
#include "fabric/topology/generate.h"
#include "simulate/collective/simulation.h"

// The quotient, and the engine that leaves out what cannot matter, against the engine that plays and checks everything.
namespace holdfast::simulate::collective {
namespace {

Disturbance random_disturbance(random::Stream& stream, const Tree& tree, bool waits) {
  Disturbance disturbance;
  disturbance.bits_seed = stream.next64();
  disturbance.strikes_wait = waits;
  disturbance.strikes_are_bursts = stream.below(2) == 0;
  disturbance.hits_lose = disturbance.bits_seed % 4 == 0;
  const auto wires = static_cast<std::uint32_t>(tree.wires.size());
  const std::uint64_t strikes = stream.below(12);
  std::vector<Time> moments;
  for (std::uint64_t i = 0; i < strikes; ++i) moments.push_back(static_cast<Time>(stream.below(4'000'000)));
  std::sort(moments.begin(), moments.end());
  for (const Time at : moments) {
    Strike strike;
    strike.at = at;
    if (stream.below(4) != 0) strike.wire = static_cast<std::uint32_t>(stream.below(wires));
    if (stream.below(3) == 0) strike.channel = static_cast<std::uint8_t>(stream.below(2));
    disturbance.strikes.push_back(strike);
  }
  const std::uint64_t named = stream.below(6);
  for (std::uint64_t i = 0; i < named; ++i) {
    NamedError error;
    if (stream.below(8) != 0) error.wire = static_cast<std::uint32_t>(stream.below(wires));
    if (stream.below(2) == 0) error.direction = Direction::down;
    if (stream.below(2) == 0) error.channel = static_cast<std::uint8_t>(stream.below(2));
    error.count = static_cast<std::uint8_t>(1 + stream.below(3));
    disturbance.named.push_back(error);
  }
  if (stream.below(6) == 0) {
    disturbance.cuts.push_back(
        {static_cast<Time>(stream.below(3'000'000)), static_cast<std::uint32_t>(stream.below(wires))});
  }
  return disturbance;
}

const Scheme schemes[] = {
    {Protection::retransmission, 1},        {Protection::temporal, 2}, {Protection::temporal, 3},
    {Protection::temporal, 2, false, true}, {Protection::spatial, 2},  {Protection::spatial, 3},
    {Protection::spatial, 2, true},         {Protection::hybrid, 2},   {Protection::link_retry, 1}};

void compare_on(const char* notation, int rounds, std::uint64_t bytes, std::uint32_t window) {
  const fabric::Fabric fabric = fabric::generate(notation).value();
  for (const Scheme& scheme : schemes) {
    Experiment experiment;
    experiment.scheme = scheme;
    experiment.assumptions.port_lanes = 12;
    experiment.bytes = bytes;
    experiment.assumptions.window_segments = window;
    Simulation simulation = Simulation::make(fabric, nullptr, {}, experiment).value();
    random::Stream stream = random::Stream(11).child(describe(scheme));
    for (int round = 0; round < rounds; ++round) {
      const Disturbance disturbance = random_disturbance(stream, simulation.tree(), round % 3 == 0);
      const Outcome whole = simulation.run(disturbance, Detail::everything);
      const Outcome needed = simulation.run(disturbance, Detail::needed);
      const Outcome reduced = simulation.run_reduced(disturbance);
      const std::string where = describe(scheme) + " round " + std::to_string(round);
      ASSERT_EQ(whole.complete, needed.complete) << where;
      ASSERT_EQ(whole.correct, whole.complete) << where;
      ASSERT_EQ(whole.complete, reduced.complete) << where;
      ASSERT_EQ(needed.correct, reduced.correct) << where;
      ASSERT_EQ(whole.root_ps, needed.root_ps) << where;
      ASSERT_EQ(whole.root_ps, reduced.root_ps) << where;
      ASSERT_EQ(whole.correct, needed.correct) << where;
      if (!whole.complete) continue;
      ASSERT_EQ(whole.last_host_ps, needed.last_host_ps) << where;
      ASSERT_EQ(whole.last_host_ps, reduced.last_host_ps) << where;
    }
  }
}

TEST(Quotient, SmallTreeUnderRandomDisturbances) {
  compare_on("xgft(3;4,4,2;1,4,2)", 200, 256, 64);
}
TEST(Quotient, TwoLevels) {
  compare_on("xgft(2;4,6;1,3)", 100, 256, 64);
}
TEST(Quotient, OneSwitch) {
  compare_on("xgft(1;8;1)", 50, 256, 64);
}
TEST(Quotient, Segments) {
  compare_on("xgft(3;4,4,2;1,4,2)", 30, 256 * 9 + 64, 64);
}
TEST(Quotient, SegmentsThroughASmallWindow) {
  compare_on("xgft(3;4,4,2;1,4,2)", 30, 256 * 9, 2);
}
TEST(Quotient, ThePapersTree) {
  compare_on("xgft(3;24,12,6;1,12,6)", 6, 256, 64);
}

TEST(Quotient, UndisturbedTreeIsOneNodeALevel) {
  const fabric::Fabric fabric = fabric::generate("xgft(3;24,12,6;1,12,6)").value();
  const Scheme scheme = {Protection::spatial, 6};
  const Tree tree = embed(fabric, nullptr, all_adapters(fabric), scheme).value();
  const Operands operands(tree, 32, Combine::sum, 1);
  Reducer reducer(tree, operands);
  ASSERT_TRUE(reducer.reduce({}, 256));
  EXPECT_EQ(reducer.collective().tree->nodes.size(), 4U);
  Disturbance one;
  one.strikes = {{.at = 5, .wire = 17}};
  ASSERT_TRUE(reducer.reduce(one, 256));
  // the host, its neighbours, hosts below sister switches, all others; its switch, sisters, others; the switches above,
  // others; the roots
  EXPECT_EQ(reducer.collective().tree->nodes.size(), 4U + 3 + 2 + 1);
  ASSERT_TRUE(reducer.reduce({}, 256));
  EXPECT_EQ(reducer.collective().tree->nodes.size(), 4U);
}

}  // namespace
}  // namespace holdfast::simulate::collective
