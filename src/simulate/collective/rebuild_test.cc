#include "simulate/collective/rebuild.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::simulate::collective {
namespace {

const fabric::Fabric& small() {
  static const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  return fabric;
}

Experiment with(Protection protection, std::uint8_t copies) {
  Experiment experiment;
  experiment.scheme = {.protection = protection, .copies = copies};
  return experiment;
}

/// A link from the first leaf up that the tree uses.
fabric::LinkId used_link(const Experiment& experiment) {
  const Simulation simulation = Simulation::make(small(), nullptr, {}, experiment).value();
  const Tree& tree = simulation.tree();
  return tree.wires[tree.up(tree.up(0)[0].parent)[0].wire];
}

TEST(Rebuild, NothingFails) {
  const Survival survival = survive(small(), {}, with(Protection::temporal, 2), {}, ps_per_ms).value();
  EXPECT_TRUE(survival.correct);
  EXPECT_EQ(survival.rebuilds, 0U);
  EXPECT_EQ(survival.last_host_ps, 1'724'000);
}

TEST(Rebuild, TemporalNeedsANewTreeAndSpatialDoesNot) {
  for (const Time at : {Time{0}, Time{700'000}, Time{1'300'000}}) {  // before, on the way up, on the way down
    const Experiment temporal = with(Protection::temporal, 2);
    const HardFailure one = {.at = at, .link = used_link(temporal)};
    const Survival rebuilt = survive(small(), {}, temporal, std::span(&one, 1), ps_per_ms).value();
    EXPECT_EQ(rebuilt.rebuilds, 1U) << at;
    EXPECT_TRUE(rebuilt.correct) << at;
    // the retry limit's eight timeouts, the rebuild, and a collective on the new tree
    EXPECT_GT(rebuilt.last_host_ps, ps_per_ms + 8 * 4'096'000) << at;
    EXPECT_LT(rebuilt.last_host_ps, ps_per_ms + 9 * 4'096'000 + 4'000'000) << at;

    const Experiment spatial = with(Protection::spatial, 2);
    const HardFailure other = {.at = at, .link = used_link(spatial)};
    const Survival survived = survive(small(), {}, spatial, std::span(&other, 1), ps_per_ms).value();
    EXPECT_EQ(survived.rebuilds, 0U) << at;
    EXPECT_TRUE(survived.correct) << at;
    EXPECT_EQ(survived.last_host_ps, 2'236'000) << at;
  }
}

TEST(Rebuild, SpatialSurvivesASwitch) {
  const Experiment spatial = with(Protection::spatial, 2);
  const Simulation simulation = Simulation::make(small(), nullptr, {}, spatial).value();
  const Tree& tree = simulation.tree();
  const HardFailure failure = {.at = 0, .switch_node = tree.nodes[tree.roots.front()].id};
  const Survival survival = survive(small(), {}, spatial, std::span(&failure, 1), ps_per_ms).value();
  EXPECT_EQ(survival.rebuilds, 0U);
  EXPECT_TRUE(survival.correct);
}

TEST(Rebuild, ASecondFailureHitsTheRebuiltTree) {
  const Experiment temporal = with(Protection::temporal, 2);
  std::vector<HardFailure> failures;
  const Simulation simulation = Simulation::make(small(), nullptr, {}, temporal).value();
  const fabric::NodeId leaf = simulation.tree().nodes[simulation.tree().up(0)[0].parent].id;
  for (std::uint32_t number = 1; number <= small().node(leaf).port_count && failures.size() < 3; ++number) {
    const fabric::PortId port = small().node(leaf).first_port + number;
    const fabric::PortId peer = small().peer(port);
    if (peer == fabric::none || !small().is_switch(small().port(peer).node)) continue;
    failures.push_back({.at = 0, .link = small().port(port).link});
  }
  ASSERT_EQ(failures.size(), 3U);  // of four ways up
  failures[1].at = failures[2].at = 100'000;
  const Survival survival = survive(small(), {}, temporal, failures, ps_per_ms).value();
  EXPECT_GE(survival.rebuilds, 1U);
  EXPECT_TRUE(survival.correct);
}

/// One port of an adapter goes down: with two cables the collective goes on, with a split port the host is cut off.
TEST(Rebuild, ADualPortAdapterSurvivesACable) {
  Experiment dual = with(Protection::spatial, 2);
  dual.scheme.dual_port = true;
  const Simulation simulation = Simulation::make(small(), nullptr, {}, dual).value();
  const fabric::LinkId link = simulation.tree().wires[simulation.tree().up(3)[0].wire];
  for (const std::uint8_t cable : {std::uint8_t{0}, std::uint8_t{1}}) {
    for (const Time at : {Time{0}, Time{300'000}, Time{1'300'000}}) {
      const HardFailure failure = {.at = at, .link = link, .cable = cable};
      const Survival survival = survive(small(), {}, dual, std::span(&failure, 1), ps_per_ms).value();
      EXPECT_EQ(survival.rebuilds, 0U);
      EXPECT_TRUE(survival.correct);
      EXPECT_EQ(survival.last_host_ps, 1'724'000);
    }
  }
  const HardFailure both = {.at = 0, .link = link};
  EXPECT_EQ(survive(small(), {}, dual, std::span(&both, 1), ps_per_ms).status().code(), Code::unavailable);
  EXPECT_EQ(survive(small(), {}, with(Protection::spatial, 2), std::span(&both, 1), ps_per_ms).status().code(),
            Code::unavailable);
  const HardFailure one_by_one[] = {{.at = 0, .link = link, .cable = 1}, {.at = 0, .link = link, .cable = 0}};
  EXPECT_EQ(survive(small(), {}, dual, one_by_one, ps_per_ms).status().code(), Code::unavailable);
  const HardFailure third = {.at = 0, .link = link, .cable = 2};
  EXPECT_EQ(survive(small(), {}, dual, std::span(&third, 1), ps_per_ms).status().code(), Code::bad_input);
  const HardFailure of_one = {.at = 0, .link = link, .cable = 0};
  EXPECT_EQ(survive(small(), {}, with(Protection::spatial, 2), std::span(&of_one, 1), ps_per_ms).status().code(),
            Code::bad_input);
}

TEST(Rebuild, ACutOffHostIsSaid) {
  const Experiment temporal = with(Protection::temporal, 2);
  const Simulation simulation = Simulation::make(small(), nullptr, {}, temporal).value();
  const HardFailure failure = {.at = 0, .link = simulation.tree().wires[simulation.tree().up(3)[0].wire]};
  const auto survival = survive(small(), {}, temporal, std::span(&failure, 1), ps_per_ms);
  ASSERT_FALSE(survival.ok());
  EXPECT_EQ(survival.status().code(), Code::unavailable);
  const HardFailure nothing;
  EXPECT_EQ(survive(small(), {}, temporal, std::span(&nothing, 1), 0).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::simulate::collective
