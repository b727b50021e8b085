#include <gtest/gtest.h>

#include "fabric/topology/generate.h"
#include "simulate/collective/error_process.h"
#include "simulate/collective/simulation.h"

// The closed forms of docs/design/fabric-collectives.md, to the picosecond.
namespace holdfast::simulate::collective {
namespace {

constexpr Time ns = ps_per_ns;

const fabric::Fabric& paper_fabric() {
  static const fabric::Fabric fabric = fabric::generate("xgft(3;24,12,6;1,12,6)").value();
  return fabric;
}

Assumptions m1() {
  Assumptions assumptions;
  assumptions.narrow_links = NarrowLinks::adapter_up;
  assumptions.port_lanes = 12;
  return assumptions;
}

Assumptions m2() {
  Assumptions assumptions;
  assumptions.port_lanes = 12;
  return assumptions;
}

Simulation paper(Protection protection, std::uint8_t copies, const Assumptions& assumptions) {
  Experiment experiment;
  experiment.scheme.protection = protection;
  experiment.scheme.copies = copies;
  experiment.assumptions = assumptions;
  return Simulation::make(paper_fabric(), nullptr, {}, experiment).value();
}

// The edge from a host (level 0) or from the first switch of a level, to its n-th parent.
std::uint32_t wire_from(const Tree& tree, std::uint32_t node, std::uint32_t n = 0) {
  return tree.up(node)[n].wire;
}

std::uint32_t parent_of(const Tree& tree, std::uint32_t node) {
  return tree.up(node)[0].parent;
}

Disturbance errors(std::initializer_list<NamedError> named) {
  Disturbance disturbance;
  disturbance.named = named;
  return disturbance;
}

Disturbance every_link_once(bool down) {
  Disturbance disturbance = errors({{.direction = Direction::up}});
  if (down) disturbance.named.push_back({.direction = Direction::down});
  return disturbance;
}

double times(Time a, Time b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

TEST(ClosedForm, TheTreeIsThePapers) {
  const Simulation temporal = paper(Protection::temporal, 2, m1());
  EXPECT_EQ(temporal.tree().hosts, 1728U);
  EXPECT_EQ(temporal.tree().nodes.size(), 1728U + 72 + 6 + 1);
  EXPECT_EQ(temporal.tree().roots.size(), 1U);
  for (const int copies : {2, 4, 6}) {
    const auto r = static_cast<std::uint8_t>(copies);
    const Simulation spatial = paper(Protection::spatial, r, m1());
    EXPECT_EQ(spatial.tree().nodes.size(), 1728U + 72 + 6U * r + std::size_t{r} * r);
    EXPECT_EQ(spatial.tree().roots.size(), std::size_t{r} * r);  // several roots: Figure 1 of the paper has 4
    EXPECT_EQ(spatial.tree().edges.size(), 1728U + 72U * r + 6U * r * r);
  }
}

TEST(ClosedForm, M1FaultFree) {
  const Outcome temporal = paper(Protection::temporal, 2, m1()).run({});
  const Outcome spatial = paper(Protection::spatial, 2, m1()).run({});
  EXPECT_EQ(temporal.root_ps, 1168 * ns);
  EXPECT_EQ(spatial.root_ps, 1424 * ns);
  EXPECT_NEAR(times(spatial.root_ps, temporal.root_ps), 1.219, 0.0005);  // paper: 22 %
}

TEST(ClosedForm, M1OneErrorCostsTemporalOneCopyAtAnyLevel) {
  Simulation temporal = paper(Protection::temporal, 2, m1());
  std::uint32_t node = 100;  // some host
  for (int level = 0; level < 3; ++level) {
    EXPECT_EQ(temporal.run(errors({{.wire = wire_from(temporal.tree(), node)}})).root_ps, 1424 * ns) << level;
    node = parent_of(temporal.tree(), node);
  }
  EXPECT_EQ(times(1424, 1168), times(paper(Protection::spatial, 2, m1()).run({}).root_ps, 1168 * ns));
}

TEST(ClosedForm, M1OneErrorCostsSpatialNothing) {
  Simulation spatial = paper(Protection::spatial, 2, m1());
  std::uint32_t node = 100;
  for (int level = 0; level < 3; ++level) {
    for (std::uint32_t port = 0; port < (level == 0 ? 1 : 2); ++port) {
      const NamedError error = {.wire = wire_from(spatial.tree(), node, port), .channel = 0};
      EXPECT_EQ(spatial.run(errors({error})).root_ps, 1424 * ns) << level;
    }
    node = parent_of(spatial.tree(), node);
  }
}

TEST(ClosedForm, M1TwoErrorsAtOneLevelCostNoMoreThanOne) {
  Simulation temporal = paper(Protection::temporal, 2, m1());
  Simulation spatial = paper(Protection::spatial, 2, m1());
  const auto two = [](const Simulation& simulation) {  // two switches of level 1, in different parts of the tree
    const Tree& tree = simulation.tree();
    return errors({{.wire = wire_from(tree, parent_of(tree, 0))}, {.wire = wire_from(tree, parent_of(tree, 1000))}});
  };
  EXPECT_EQ(temporal.run(two(temporal)).root_ps, 1424 * ns);
  EXPECT_EQ(spatial.run(two(spatial)).root_ps, 1424 * ns);
}

TEST(ClosedForm, M1ErrorsAtAdjacentLevelsAddUpForTemporalAlone) {
  const auto adjacent = [](const Simulation& simulation) {
    const Tree& tree = simulation.tree();
    const std::uint32_t leaf = parent_of(tree, 0);
    return errors({{.wire = wire_from(tree, leaf)}, {.wire = wire_from(tree, parent_of(tree, leaf))}});
  };
  Simulation temporal = paper(Protection::temporal, 2, m1());
  Simulation spatial = paper(Protection::spatial, 2, m1());
  EXPECT_EQ(temporal.run(adjacent(temporal)).root_ps, 1680 * ns);
  EXPECT_EQ(spatial.run(adjacent(spatial)).root_ps, 1424 * ns);
}

TEST(ClosedForm, M1BothPortsOfOneSwitchCostSpatialARepetition) {
  Simulation spatial = paper(Protection::spatial, 2, m1());
  const Tree& tree = spatial.tree();
  const std::uint32_t leaf = parent_of(tree, 0);
  const Outcome outcome = spatial.run(errors({{.wire = wire_from(tree, leaf, 0)}, {.wire = wire_from(tree, leaf, 1)}}));
  EXPECT_EQ(outcome.root_ps, (1424 + 786) * ns);                  // R = 30 + 5 x 100 + 256
  EXPECT_NEAR(times(outcome.root_ps, 1424 * ns), 1.552, 0.0005);  // paper: 55 %
  const std::uint32_t middle = parent_of(tree, leaf);             // one level up, the other column is still in time
  EXPECT_EQ(spatial.run(errors({{.wire = wire_from(tree, middle, 0)}, {.wire = wire_from(tree, middle, 1)}})).root_ps,
            1424 * ns);
}

TEST(ClosedForm, M1EveryLinkOnce) {
  const Outcome temporal = paper(Protection::temporal, 2, m1()).run(every_link_once(false));
  const Outcome spatial = paper(Protection::spatial, 2, m1()).run(every_link_once(false));
  EXPECT_EQ(temporal.root_ps, (1168 + 3 * 256) * ns);
  EXPECT_EQ(spatial.root_ps, (1424 + 3 * 786 + 256) * ns);             // the adapter's repetition is slow
  EXPECT_NEAR(times(spatial.root_ps, temporal.root_ps), 2.09, 0.005);  // paper: almost 2
}

TEST(ClosedForm, M2FaultFree) {
  const Outcome temporal = paper(Protection::temporal, 2, m2()).run({});
  const Outcome spatial = paper(Protection::spatial, 2, m2()).run({});
  EXPECT_EQ(temporal.last_host_ps, 1724 * ns);
  EXPECT_EQ(spatial.last_host_ps, 2236 * ns);
  EXPECT_TRUE(temporal.correct);
  EXPECT_TRUE(spatial.correct);
}

TEST(ClosedForm, M2EveryLinkOnceInEachDirection) {
  const Outcome temporal = paper(Protection::temporal, 2, m2()).run(every_link_once(true));
  const Outcome spatial = paper(Protection::spatial, 2, m2()).run(every_link_once(true));
  // down: the first copy dies on the first link, the second on the second, so that level 2 asks for a repetition; of
  // that the first copy dies on the last link
  EXPECT_EQ(temporal.last_host_ps, (1724 + 3 * 256 + 256 + 786 + 256) * ns);
  EXPECT_EQ(spatial.last_host_ps, (2236 + 2 * (3 * 786 + 256)) * ns);
  EXPECT_NEAR(times(spatial.last_host_ps, temporal.last_host_ps), 1.97, 0.005);
}

TEST(ClosedForm, M2WithHeadersAtTheSignallingRate) {
  Assumptions assumptions = m2();
  assumptions.headers_count = true;  // 282 bytes
  assumptions.byte_ps = 800;         // 10 Gbit/s
  EXPECT_EQ(paper(Protection::temporal, 2, assumptions).run({}).last_host_ps, 1'602'400);
  EXPECT_EQ(paper(Protection::spatial, 2, assumptions).run({}).last_host_ps, 2'053'600);
}

TEST(ClosedForm, CopiesCostTemporalNothingAndSpatialTheWidthOfThePort) {
  for (const int copies : {1, 2, 4, 6}) {
    const auto r = static_cast<std::uint8_t>(copies);
    EXPECT_EQ(paper(Protection::temporal, r, m1()).run({}).root_ps, 1168 * ns);
    EXPECT_EQ(paper(Protection::spatial, r, m1()).run({}).root_ps, (912 + 256 * copies) * ns);
    EXPECT_EQ(paper(Protection::spatial, r, m2()).run({}).last_host_ps, (1212 + 512 * copies) * ns);
    EXPECT_EQ(paper(Protection::hybrid, r, m2()).run({}).last_host_ps, 1724 * ns);
  }
}

/// Six copies need a port of six lanes, or of twelve.
TEST(ClosedForm, APortIsSplitEvenlyOrNotAtAll) {
  const auto refused = [](std::uint8_t copies, std::uint32_t lanes, bool dual) {
    Assumptions assumptions;
    assumptions.port_lanes = lanes;
    return check({.protection = Protection::spatial, .copies = copies, .dual_port = dual}, assumptions).code();
  };
  EXPECT_EQ(refused(6, 4, false), Code::bad_input);
  EXPECT_EQ(refused(3, 4, false), Code::bad_input);
  for (const std::uint8_t copies : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{4}})
    EXPECT_EQ(refused(copies, 4, false), Code::ok);
  EXPECT_EQ(refused(6, 12, false), Code::ok);
  EXPECT_EQ(refused(6, 4, true), Code::ok) << "ports of their own are not split";
}

TEST(ClosedForm, DualPortsCostNothing) {
  Experiment experiment;
  experiment.scheme = {.protection = Protection::spatial, .copies = 2, .dual_port = true};
  Simulation simulation = Simulation::make(paper_fabric(), nullptr, {}, experiment).value();
  EXPECT_EQ(simulation.run({}).last_host_ps, 1724 * ns);
  const NamedError one = {.wire = simulation.tree().up(5)[0].wire_of(1)};
  EXPECT_EQ(simulation.run(errors({one})).last_host_ps, 1724 * ns);
}

/// A burst spoils what one cable carries, the other copy is in time; on a split port it spoils both.
TEST(ClosedForm, DualPortsHaveACableEach) {
  for (const bool dual : {true, false}) {
    Experiment experiment;
    experiment.scheme = {.protection = Protection::spatial, .copies = 2, .dual_port = dual};
    Simulation simulation = Simulation::make(paper_fabric(), nullptr, {}, experiment).value();
    const Tree& tree = simulation.tree();
    const TreeEdge& edge = tree.up(5)[0];
    ASSERT_EQ(edge.channels, 2U);
    EXPECT_EQ(edge.wire_count(), dual ? 2U : 1U);
    EXPECT_EQ(edge.wire_of(0) != edge.wire_of(1), dual);
    EXPECT_EQ(tree.wires[edge.wire_of(1)], tree.wires[edge.wire]);
    EXPECT_EQ(tree.host_wire[edge.wire_of(1)], 1U);
    const Time without = simulation.run({}).last_host_ps;
    Disturbance burst;
    burst.strikes = {{.at = 150 * ns, .wire = edge.wire}};
    burst.strikes_are_bursts = true;
    const Outcome struck = simulation.run(burst);
    EXPECT_TRUE(struck.correct);
    EXPECT_EQ(struck.counts[Count::corrupted], dual ? 1U : 2U);
    EXPECT_EQ(struck.last_host_ps > without, !dual);
  }
}

/// Every cable has errors of its own: two for a host with two ports.
TEST(ClosedForm, CablesOfDualPortsErrByThemselves) {
  const fabric::Fabric fabric = fabric::generate("xgft(1;8;1)").value();
  for (const bool dual : {true, false}) {
    const Scheme scheme = {.protection = Protection::spatial, .copies = 2, .dual_port = dual};
    const Tree tree = embed(fabric, nullptr, all_adapters(fabric), scheme).value();
    ErrorDraw draw({.source = ErrorSource::link, .mean_ps = ps_per_us}, tree, fabric);
    draw.begin(random::Stream(3));
    const auto strikes = static_cast<double>(draw.until(ps_per_ms).strikes.size());
    EXPECT_NEAR(strikes, dual ? 16'000 : 8'000, dual ? 500 : 350);
    for (const Strike& strike : draw.until(ps_per_ms).strikes) ASSERT_LT(strike.channel, dual ? 1 : 2);
  }
}

/// A packet that a switch loses: no receiver asks for it, and no link repeats it. One copy waits for the timer, 4.096
/// us after its tail, and its repetition; two copies lose what they lose by a bit error.
TEST(ClosedForm, ALostPacketIsMissedByTheTimerAlone) {
  for (const Protection protection : {Protection::retransmission, Protection::link_retry}) {
    Simulation single = paper(protection, 1, m2());
    Disturbance one = errors({{.wire = wire_from(single.tree(), 5)}});
    one.hits_lose = true;
    const Outcome outcome = single.run(one);
    EXPECT_EQ(outcome.last_host_ps, (1724 + 4096 + 256) * ns);
    EXPECT_EQ(outcome.counts[Count::lost], 1U);
    EXPECT_EQ(outcome.counts[Count::timeouts], 1U);
    EXPECT_EQ(outcome.counts[Count::naks] + outcome.counts[Count::link_retries], 0U);
  }
  Simulation temporal = paper(Protection::temporal, 2, m2());
  Disturbance first = errors({{.wire = wire_from(temporal.tree(), 5)}});
  first.hits_lose = true;
  EXPECT_EQ(temporal.run(first).last_host_ps, (1724 + 256) * ns);
  Disturbance both = errors({{.wire = wire_from(temporal.tree(), 5), .count = 2}});
  both.hits_lose = true;
  EXPECT_EQ(temporal.run(both).last_host_ps, (1724 + 256 + 4096 + 256) * ns);
}

TEST(ClosedForm, RetransmissionPaysTheWholePenaltyForEachError) {
  Simulation plain = paper(Protection::retransmission, 1, m2());
  EXPECT_EQ(plain.run({}).last_host_ps, 1724 * ns);
  EXPECT_EQ(plain.run(errors({{.wire = 7}})).last_host_ps, (1724 + 786) * ns);
  EXPECT_EQ(plain.run(errors({{.wire = 7, .count = 3}})).last_host_ps, (1724 + 3 * 786) * ns);
  // down: each of the three links loses the first good packet that comes to it
  EXPECT_EQ(plain.run(every_link_once(true)).last_host_ps, (1724 + 6 * 786) * ns);
}

TEST(ClosedForm, LinkRetryPaysThePacketAndTheLinksRoundTrip) {
  Simulation retry = paper(Protection::link_retry, 1, m2());
  EXPECT_EQ(retry.run({}).last_host_ps, 1724 * ns);
  EXPECT_EQ(retry.run(errors({{.wire = 7}})).last_host_ps, (1724 + 256 + 200) * ns);
  EXPECT_EQ(retry.run(every_link_once(true)).last_host_ps, (1724 + 6 * 456) * ns);
}

TEST(ClosedForm, RegeneratedCopiesSaveTheRepetitionOnTheWayDown) {
  Experiment experiment;
  experiment.scheme = {.protection = Protection::temporal, .copies = 2, .regenerate = true};
  Simulation simulation = Simulation::make(paper_fabric(), nullptr, {}, experiment).value();
  EXPECT_EQ(simulation.run({}).last_host_ps, 1724 * ns);
  const Outcome outcome = simulation.run(every_link_once(true));
  EXPECT_EQ(outcome.last_host_ps, (1724 + 6 * 256) * ns);
  EXPECT_EQ(outcome.counts[Count::repetitions], 0U);
}

TEST(ClosedForm, LostNakIsMadeUpForByTheTimeout) {
  Assumptions assumptions = m2();
  assumptions.timeout_exponent = 2;
  Simulation plain = paper(Protection::retransmission, 1, assumptions);
  Disturbance disturbance = errors({{.wire = 7}});
  disturbance.strikes = {{.at = 370 * ns, .wire = 7}};  // the packet is over at 356, its NAK lasts until 386
  const Outcome outcome = plain.run(disturbance);
  EXPECT_EQ(outcome.counts[Count::control_lost], 1U);
  EXPECT_EQ(outcome.counts[Count::timeouts], 1U);
  EXPECT_EQ(outcome.last_host_ps, 1724 * ns + 4 * 4'096'000 + 256 * ns);
  EXPECT_TRUE(outcome.correct);
}

TEST(ClosedForm, LostAcknowledgementIsRepeatedAndTheDuplicateDiscarded) {
  Experiment experiment;
  experiment.scheme = {.protection = Protection::retransmission, .copies = 1};
  experiment.bytes = 256 * 200;  // long enough for the timeout to run out
  Simulation simulation = Simulation::make(paper_fabric(), nullptr, {}, experiment).value();
  Disturbance disturbance;
  disturbance.strikes = {{.at = 370 * ns, .wire = 7}};  // the first segment's acknowledgement, and the second's data
  const Outcome outcome = simulation.run(disturbance);
  EXPECT_EQ(outcome.counts[Count::control_lost], 1U);
  EXPECT_EQ(outcome.counts[Count::timeouts], 1U);
  EXPECT_GE(outcome.counts[Count::duplicates], 1U);
  EXPECT_TRUE(outcome.correct);
}

// S segments through a pipeline: the slowest stage decides.
TEST(ClosedForm, PipelinedSegments) {
  for (const int segments : {1, 2, 7, 64, 100}) {
    for (const int copies : {1, 2, 4}) {
      for (const Protection protection : {Protection::temporal, Protection::spatial}) {
        Experiment experiment;
        experiment.scheme = {.protection = protection, .copies = static_cast<std::uint8_t>(copies)};
        experiment.bytes = static_cast<std::uint64_t>(256 * segments);
        Simulation simulation = Simulation::make(paper_fabric(), nullptr, {}, experiment).value();
        const Time first = protection == Protection::temporal ? 1724 : 1212 + 512 * copies;
        EXPECT_EQ(simulation.run_reduced({}).last_host_ps, (first + (segments - 1) * 256 * copies) * ns)
            << segments << " segments, " << copies << " copies";
      }
    }
  }
}

TEST(ClosedForm, ReduceAndBroadcastAndBarrier) {
  Experiment experiment;
  experiment.operation = Operation::reduce;
  experiment.host = 1000;
  const Outcome reduce = Simulation::make(paper_fabric(), nullptr, {}, experiment).value().run({});
  EXPECT_EQ(reduce.root_ps, 1168 * ns);
  EXPECT_EQ(reduce.last_host_ps, 1724 * ns);
  EXPECT_TRUE(reduce.correct);
  experiment.operation = Operation::broadcast;
  const Outcome broadcast = Simulation::make(paper_fabric(), nullptr, {}, experiment).value().run({});
  EXPECT_EQ(broadcast.last_host_ps, 1724 * ns);
  EXPECT_TRUE(broadcast.correct);
  experiment.operation = Operation::barrier;
  experiment.assumptions.headers_count = true;  // 26 bytes
  const Outcome barrier = Simulation::make(paper_fabric(), nullptr, {}, experiment).value().run({});
  EXPECT_EQ(barrier.last_host_ps, (700 + 4 * 26) * ns);
  EXPECT_TRUE(barrier.correct);
}

}  // namespace
}  // namespace holdfast::simulate::collective
