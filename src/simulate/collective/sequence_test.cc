#include "simulate/collective/sequence.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"
#include "simulate/collective/sampling.h"

namespace holdfast::simulate::collective {
namespace {

Experiment one_packet(Protection protection, std::uint8_t copies) {
  Experiment experiment;
  experiment.scheme = {.protection = protection, .copies = copies};
  return experiment;
}

TEST(Sequence, WithoutErrorsEachTakesAsLongAsAlone) {
  const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  Simulation simulation = Simulation::make(fabric, nullptr, {}, one_packet(Protection::temporal, 2)).value();
  Sequence sequence(simulation, {}, fabric, random::Stream(1));
  for (int i = 1; i <= 5; ++i) {
    const Outcome outcome = sequence.next();
    EXPECT_TRUE(outcome.correct);
    EXPECT_EQ(outcome.last_host_ps, 1'724'000);
    EXPECT_EQ(sequence.now_ps(), i * (1'724'000 + 256'000 - 100'000)) << "the second copy behind, without the adapter";
  }
}

/// A strike that waits meets exactly one packet in each direction of its wire, if not in this collective, in the next:
/// nothing is lost but what strikes between the same two packets. From a quiet start only what strikes before a
/// collective's packet is counted.
TEST(Sequence, EveryStrikeThatWaitsHitsAPacket) {
  const fabric::Fabric fabric = fabric::generate("xgft(1;1;1)").value();
  Simulation simulation = Simulation::make(fabric, nullptr, {}, one_packet(Protection::retransmission, 1)).value();
  ErrorProcess errors;
  errors.source = ErrorSource::link;
  errors.mean_ps = 20 * ps_per_us;
  errors.strikes = Strikes::next;
  const random::Stream stream(3);
  Sequence sequence(simulation, errors, fabric, stream);
  std::uint64_t hit = 0;
  for (int i = 0; i < 40'000; ++i) {
    const Outcome outcome = sequence.next();
    ASSERT_TRUE(outcome.correct);
    hit += outcome.counts[Count::corrupted];
  }
  ErrorDraw draw(errors, simulation.tree(), fabric);
  draw.begin(stream);
  const double strikes = static_cast<double>(draw.until(sequence.now_ps()).strikes.size());
  EXPECT_GT(strikes, 1000);
  EXPECT_NEAR(static_cast<double>(hit) / (2 * strikes), 1, 0.06);

  SamplePlan plan;
  plan.experiment = one_packet(Protection::retransmission, 1);
  plan.errors = errors;
  plan.collectives = 4000;
  const Sample alone = sample(fabric, nullptr, plan).value();
  plan.consecutive = true;
  const Sample in_a_row = sample(fabric, nullptr, plan).value();
  EXPECT_GT(in_a_row.disturbed, alone.disturbed + alone.disturbed / 5);
}

/// Errors that hit only what is on its wire know nothing of what was before.
TEST(Sequence, ErrorsInFlightHaveNoMemory) {
  const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  SamplePlan plan;
  plan.experiment = one_packet(Protection::temporal, 2);
  plan.errors.source = ErrorSource::link;
  plan.errors.mean_ps = 20 * ps_per_us;
  plan.collectives = 3000;
  plan.confidence = 0.999;
  const Sample alone = sample(fabric, nullptr, plan).value();
  plan.consecutive = true;
  const Sample in_a_row = sample(fabric, nullptr, plan).value();
  EXPECT_LT(in_a_row.last_host.interval_ns.low, alone.last_host.interval_ns.high);
  EXPECT_LT(alone.last_host.interval_ns.low, in_a_row.last_host.interval_ns.high);
  EXPECT_EQ(in_a_row.wrong + in_a_row.incomplete, 0U);
  EXPECT_EQ(sample(fabric, nullptr, plan).value().last_host.mean_ns, in_a_row.last_host.mean_ns) << "deterministic";
  plan.adaptive_calm = 3;
  EXPECT_EQ(sample(fabric, nullptr, plan).status().code(), Code::bad_input);
}

/// Several collectives of one packet are to the wires what one of several packets is.
TEST(Together, CollectivesAtOnceShareTheWiresAsSegmentsDo) {
  const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  for (const Protection protection : {Protection::retransmission, Protection::temporal, Protection::spatial}) {
    const std::uint8_t copies = protection == Protection::retransmission ? 1 : 2;
    Experiment four = one_packet(protection, copies), long_one = four;
    four.together = 4;
    long_one.bytes = 4 * four.bytes;
    const Outcome together = Simulation::make(fabric, nullptr, {}, four).value().run_reduced({});
    const Outcome segments = Simulation::make(fabric, nullptr, {}, long_one).value().run({});
    EXPECT_TRUE(together.correct);
    EXPECT_EQ(together.last_host_ps, segments.last_host_ps);
    EXPECT_EQ(together.root_ps, segments.root_ps);
  }
  Experiment none = one_packet(Protection::temporal, 2);
  none.together = 0;
  EXPECT_EQ(Simulation::make(fabric, nullptr, {}, none).status().code(), Code::bad_input);
}

TEST(Together, AllAreRightUnderErrors) {
  const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  SamplePlan plan;
  plan.experiment = one_packet(Protection::temporal, 2);
  plan.experiment.together = 3;
  plan.errors.source = ErrorSource::link;
  plan.errors.mean_ps = 10 * ps_per_us;
  plan.collectives = 100;
  const Sample sample = collective::sample(fabric, nullptr, plan).value();
  EXPECT_EQ(sample.wrong + sample.incomplete, 0U);
  EXPECT_GT(sample.disturbed, 90U);
}

}  // namespace
}  // namespace holdfast::simulate::collective
