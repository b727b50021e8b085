#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fabric/topology/connectivity.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/hosts.h"

namespace holdfast::fabric {
namespace {

std::uint64_t cables_between_switches(const Fabric& fabric) {
  std::uint64_t count = 0;
  for (const Link& link : fabric.links())
    count += fabric.is_switch(fabric.port(link.a).node) && fabric.is_switch(fabric.port(link.b).node) ? 1U : 0U;
  return count;
}

/// Switches by level.
std::vector<std::uint32_t> switches_by_level(const Fabric& fabric) {
  std::vector<std::uint32_t> count(fabric.structure().extent[0]);
  for (NodeId at = 0; at < fabric.switch_count(); ++at) ++count[fabric.structure().at(at)[0]];
  return count;
}

// NVIDIA's reference architecture of the DGX SuperPOD with DGX H100, table 4: leaves, spines and cables between them by
// units of 32 hosts.
TEST(Rails, AreTheReferenceArchitecturesOfPublishedSizes) {
  struct Row {
    const char* text;
    std::uint32_t hosts, leaves, spines;
    std::uint64_t cables;
  };
  for (const Row& row :
       {Row{"rails(8,32,1,4) links=8 ports=64", 32, 8, 4, 256}, Row{"rails(8,32,2,8) links=4 ports=64", 64, 16, 8, 512},
        Row{"rails(8,32,3,16) links=2 ports=64", 96, 24, 16, 768},
        Row{"rails(8,32,4,16) links=2 ports=64", 128, 32, 16, 1024}}) {
    const auto made = generate(row.text);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(switches_by_level(made.value()), (std::vector{row.leaves, row.spines})) << row.text;
    EXPECT_EQ(cables_between_switches(made.value()), row.cables) << row.text;
    EXPECT_EQ(count_hosts(made.value()).hosts, row.hosts) << row.text;
    EXPECT_EQ(count_hosts(made.value()).adapters, 8 * row.hosts) << row.text;
    EXPECT_EQ(diameter(made.value()), 2U);
  }
}

// A published fabric of 512 hosts with 8 adapters each: 4 pods of 32 leaves and 32 spines, 4 leaves and 4 spines for
// each rail of a pod, and 16 cores a pod; switches of 64 ports.
TEST(Rails, PodsHaveSpinesOfTheirOwnForEachRail) {
  const Fabric fabric = generate("rails(8,32,4,4;4,16) links=8 ports=64").value();
  EXPECT_EQ(switches_by_level(fabric), (std::vector{128U, 128U, 64U}));
  EXPECT_EQ(count_hosts(fabric).hosts, 512U);
  EXPECT_EQ(diameter(fabric), 4U);
  for (NodeId at = 0; at < fabric.switch_count(); ++at) {
    for (std::uint8_t number = 1; number <= 64; ++number)
      ASSERT_NE(fabric.peer(fabric.port_of(at, number)), none) << "no port of a full fabric is left over";
  }
  for (const Link& link : fabric.links()) {
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (!fabric.is_switch(a) || !fabric.is_switch(b)) continue;
    const auto low = fabric.structure().at(a);
    const auto high = fabric.structure().at(b);
    ASSERT_EQ(low[0] + 1, high[0]);
    if (low[0] == 0) {
      EXPECT_EQ(low[1], high[1]) << "a leaf has a cable to another pod's spine";
      EXPECT_EQ(low[2], high[2]) << "a leaf has a cable to another rail's spine";
    }
  }
}

TEST(Rails, EveryHostHasOneAdapterOnEachRail) {
  const Fabric fabric = generate("rails(4,3,2,2;3,1)").value();
  std::map<std::string, std::set<std::uint32_t>> rails;
  std::map<std::string, std::set<std::uint32_t>> pods;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (fabric.is_switch(node)) continue;
    const std::string name = fabric.node(node).name;
    const NodeId leaf = fabric.port(fabric.peer(fabric.port_of(node, 1))).node;
    const std::uint32_t rail = fabric.structure().at(leaf)[2];
    EXPECT_TRUE(name.ends_with(" mlx5_" + std::to_string(rail))) << name;
    rails[std::string(host_of(name))].insert(rail);
    pods[std::string(host_of(name))].insert(fabric.structure().at(leaf)[1]);
  }
  EXPECT_EQ(rails.size(), 3U * 2 * 3);
  for (const auto& [host, all] : rails) EXPECT_EQ(all.size(), 4U) << host;
  for (const auto& [host, all] : pods) EXPECT_EQ(all.size(), 1U) << host;
}

}  // namespace
}  // namespace holdfast::fabric
