#include "simulate/collective/engine.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"
#include "simulate/collective/link_crc.h"
#include "simulate/collective/simulation.h"

namespace holdfast::simulate::collective {
namespace {

const fabric::Fabric& small() {
  static const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  return fabric;
}

struct Bench {
  explicit Bench(const Scheme& given)
      : scheme(given),
        tree(embed(small(), nullptr, all_adapters(small()), scheme).value()),
        operands(tree, 32, Combine::sum, 5) {
    collective.tree = &tree;
    collective.contributions.resize(tree.nodes.size());
    for (std::uint32_t host = 0; host < tree.hosts; ++host) collective.contributions[host] = operands.at(host);
    collective.total = operands.at(tree.roots.front());
  }
  Scheme scheme;
  Tree tree;
  Operands operands;
  Collective collective;
};

TEST(Engine, SeveralCollectivesAtOnceShareTheWires) {
  Bench bench({Protection::temporal, 1});
  for (const Detail detail : {Detail::needed, Detail::everything}) {
    Engine engine(bench.scheme, {}, detail);
    std::vector<Collective> three(3, bench.collective);
    const auto outcomes = engine.run(three, {});
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      EXPECT_TRUE(outcomes[i].correct);
      EXPECT_EQ(outcomes[i].last_host_ps, 1'724'000 + static_cast<Time>(i) * 256'000);  // one packet behind the other
    }
    three[1].start_ps = 10'000'000;  // when the others are long over
    EXPECT_EQ(engine.run(three, {})[1].last_host_ps, 1'724'000);
  }
}

TEST(Engine, RunsDoNotInfluenceEachOther) {
  Bench bench({Protection::temporal, 2});
  Engine engine(bench.scheme, {});
  Disturbance disturbance;
  disturbance.strikes = {{.at = 200'000}, {.at = 900'000, .wire = 3}};
  const auto first = engine.run(std::span(&bench.collective, 1), disturbance).front();
  engine.run(std::span(&bench.collective, 1), {});
  const auto again = engine.run(std::span(&bench.collective, 1), disturbance).front();
  EXPECT_EQ(first.last_host_ps, again.last_host_ps);
  EXPECT_EQ(first.counts[Count::corrupted], again.counts[Count::corrupted]);
  EXPECT_GT(first.counts[Count::corrupted], 0U);
}

std::vector<std::byte> packet_of(std::uint64_t word) {
  std::vector<std::uint64_t> words(32);
  words[7] = word;
  std::vector<std::byte> bytes;
  write_packet({}, std::as_bytes(std::span(words)), bytes);
  return bytes;
}

/// The bits in which two right packets differ: put on any packet of the same length, both checksums stay right.
std::vector<std::byte> mask_that_both_checksums_miss() {
  std::vector<std::byte> mask = packet_of(0);
  const std::vector<std::byte> other = packet_of(0x40);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] ^= other[i];
  return mask;
}

TEST(Engine, WrongResultIsSeenWhenBothChecksumsMiss) {
  Bench bench({Protection::temporal, 2});
  for (const Direction direction : {Direction::up, Direction::down}) {
    for (const Detail detail : {Detail::needed, Detail::everything}) {
      Engine engine(bench.scheme, {}, detail);
      Disturbance disturbance;
      disturbance.named = {{.wire = 3, .direction = direction}};
      disturbance.mask = mask_that_both_checksums_miss();
      const Outcome outcome = engine.run(std::span(&bench.collective, 1), disturbance).front();
      EXPECT_TRUE(outcome.complete);
      EXPECT_FALSE(outcome.correct);
      EXPECT_EQ(outcome.counts[Count::undetected], 1U);
    }
  }
}

TEST(Engine, InvariantCrcFindsWhatTheVariantOneMisses) {
  Bench bench({Protection::temporal, 2});
  std::vector<std::byte> mask = packet_of(0);
  std::vector<std::byte> other = mask;
  other[90] ^= std::byte{0x10};
  const std::uint16_t crc = variant_crc(std::span(other).first(other.size() - 2));
  other[280] = static_cast<std::byte>(crc & 0xFF);
  other[281] = static_cast<std::byte>(crc >> 8);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] ^= other[i];
  Engine engine(bench.scheme, {});
  Disturbance disturbance;
  disturbance.named = {{.wire = 3}};
  disturbance.mask = mask;
  const Outcome outcome = engine.run(std::span(&bench.collective, 1), disturbance).front();
  EXPECT_TRUE(outcome.correct);
  EXPECT_EQ(outcome.counts[Count::undetected], 0U);
  EXPECT_EQ(outcome.last_host_ps, (1724 + 256) * ps_per_ns);
}

TEST(Engine, MinimaAndMaximaAreRight) {
  for (const Combine combine : {Combine::minimum, Combine::maximum}) {
    Experiment experiment;
    experiment.combine = combine;
    experiment.bytes = 256 * 3;
    Simulation simulation = Simulation::make(small(), nullptr, {}, experiment).value();
    EXPECT_TRUE(simulation.run({}, Detail::everything).correct);
    EXPECT_TRUE(simulation.run_reduced({}).correct);
  }
}

TEST(Engine, AnyTopologyAndAnyHosts) {
  for (const char* notation : {"torus(4,4) hosts=16", "mesh(3,3) hosts=18", "xgft(2;3,5;1,2)"}) {
    const fabric::Fabric fabric = fabric::generate(notation).value();
    std::vector<fabric::NodeId> hosts = all_adapters(fabric);
    for (const Protection protection : {Protection::temporal, Protection::spatial, Protection::hybrid}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{2}, hosts.size()}) {
        Experiment experiment;
        experiment.scheme = {.protection = protection, .copies = 2};
        Simulation simulation = Simulation::make(fabric, nullptr, std::span(hosts).first(count), experiment).value();
        Disturbance every;
        every.named = {{.direction = Direction::up}, {.direction = Direction::down}};
        EXPECT_TRUE(simulation.run(every, Detail::everything).correct) << notation << " " << count;
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::simulate::collective
