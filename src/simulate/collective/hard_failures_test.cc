#include "simulate/collective/hard_failures.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"
#include "simulate/collective/sampling.h"

namespace holdfast::simulate::collective {
namespace {

SamplePlan failing(FailureKind kind, Protection protection, bool dual_port = false) {
  SamplePlan plan;
  plan.experiment.scheme = {.protection = protection, .copies = 2, .dual_port = dual_port};
  plan.fails = kind;
  plan.collectives = 40;
  return plan;
}

const fabric::Fabric& small_fabric() {
  static const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  return fabric;
}

/// Eight leaves of four hosts below two switches and one root; with two roots twice the paths above the leaves.
TEST(HardFailures, PartsAreThoseOfTheTree) {
  const auto parts = [](const SamplePlan& plan) {
    const Simulation simulation = Simulation::make(small_fabric(), nullptr, {}, plan.experiment).value();
    return failing_parts(simulation.tree(), small_fabric(), plan.fails);
  };
  EXPECT_EQ(parts(failing(FailureKind::link, Protection::temporal)).size(), 8U + 2);
  EXPECT_EQ(parts(failing(FailureKind::switch_, Protection::temporal)).size(), 2U + 1);
  EXPECT_EQ(parts(failing(FailureKind::cable, Protection::temporal)).size(), 32U);
  const auto cables = parts(failing(FailureKind::cable, Protection::spatial, true));
  ASSERT_EQ(cables.size(), 64U);
  std::size_t second = 0;
  for (const HardFailure& each : cables) second += each.cable == 1 ? 1 : 0;
  EXPECT_EQ(second, 32U);
  EXPECT_TRUE(parts(failing(FailureKind::none, Protection::temporal)).empty());
}

TEST(HardFailures, SpatialNeedsNoNewTreeAndTemporalDoes) {
  const Sample temporal = sample(small_fabric(), nullptr, failing(FailureKind::link, Protection::temporal)).value();
  const Sample spatial = sample(small_fabric(), nullptr, failing(FailureKind::link, Protection::spatial)).value();
  EXPECT_EQ(temporal.exposed, 10U);
  EXPECT_GT(temporal.rebuilt, 25U) << "some links have done their work when they fail";
  EXPECT_LT(temporal.rebuilt, 40U);
  EXPECT_GT(temporal.last_host.greatest_ns, 1'000'000);
  EXPECT_EQ(temporal.wrong + temporal.cut_off, 0U);
  EXPECT_EQ(spatial.rebuilt + spatial.wrong + spatial.cut_off, 0U);
  EXPECT_GT(spatial.exposed, temporal.exposed);
  EXPECT_EQ(sample(small_fabric(), nullptr, failing(FailureKind::switch_, Protection::spatial)).value().rebuilt, 0U);
}

TEST(HardFailures, OneCableOfTwoIsNoLoss) {
  const Sample dual = sample(small_fabric(), nullptr, failing(FailureKind::cable, Protection::spatial, true)).value();
  EXPECT_EQ(dual.rebuilt + dual.cut_off, 0U);
  const Sample single = sample(small_fabric(), nullptr, failing(FailureKind::cable, Protection::spatial)).value();
  EXPECT_GT(single.cut_off, 20U);
  EXPECT_LT(single.cut_off, 40U) << "the result had come already";
}

TEST(HardFailures, WhatCannotBeAskedIsSaid) {
  SamplePlan plan = failing(FailureKind::switch_, Protection::temporal);
  const fabric::Fabric star = fabric::generate("xgft(1;4;1)").value();
  EXPECT_EQ(sample(star, nullptr, plan).status().code(), Code::bad_input) << "its only switch has the hosts";
  plan.errors.source = ErrorSource::link;
  plan.errors.mean_ps = ps_per_us;
  EXPECT_EQ(sample(small_fabric(), nullptr, plan).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::simulate::collective
