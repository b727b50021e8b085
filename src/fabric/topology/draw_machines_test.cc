#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fabric/topology/connectivity.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/hosts.h"

namespace holdfast::fabric {
namespace {

/// Of one switch: how many cables it has to hosts and to switches, and what they carry.
struct Cables {
  std::map<std::string, unsigned> to_hosts, to_switches;  ///< by rate
  std::map<NodeId, unsigned> to;                          ///< by the switch at the other end
};

Cables cables_of(const Fabric& fabric, NodeId at) {
  Cables cables;
  for (std::uint32_t number = 1; number <= fabric.node(at).port_count; ++number) {
    const PortId far = fabric.peer(fabric.port_of(at, static_cast<std::uint8_t>(number)));
    if (far == none) continue;
    const std::string rate = format(fabric.link(fabric.port(far).link).rate);
    const bool other = fabric.is_switch(fabric.port(far).node);
    ++(other ? cables.to_switches : cables.to_hosts)[rate];
    if (other) ++cables.to[fabric.port(far).node];
  }
  return cables;
}

std::vector<NodeId> switches_of_level(const Fabric& fabric, std::uint32_t level) {
  std::vector<NodeId> found;
  for (NodeId at = 0; at < fabric.switch_count(); ++at) {
    if (fabric.structure().at(at)[0] == level) found.push_back(at);
  }
  return found;
}

// "There are two 40-port leaf switches in each rack. Half of the nodes in a rack (44) connect to 22 downlinks of a leaf
// switch as pairs of HDR100 links [...] The other 18 ports are uplinks to the six cores switches." 91 racks.
TEST(Machines, FronteraIsAsItsGuideSays) {
  const Fabric fabric = generate("frontera").value();
  EXPECT_EQ(count_hosts(fabric).hosts, 8008U);
  const auto leaves = switches_of_level(fabric, 0);
  EXPECT_EQ(leaves.size(), 2U * 91U);
  for (const NodeId leaf : leaves) {
    const Cables cables = cables_of(fabric, leaf);
    EXPECT_EQ(cables.to_hosts, (std::map<std::string, unsigned>{{"2xHDR", 44}}));
    EXPECT_EQ(cables.to_switches, (std::map<std::string, unsigned>{{"4xHDR", 18}}));
  }
  EXPECT_EQ(diameter(fabric), 4U);
}

// 34 nodes a rack with two ports each, 36-port switches, six cables from each leaf to each of three switches, eight
// from these to the directors: a third of what the rack sends.
TEST(Machines, AbcisRacksSendAThirdOutside) {
  const Fabric fabric = generate("abci").value();
  EXPECT_EQ(count_hosts(fabric).hosts, 1088U);
  EXPECT_EQ(count_hosts(fabric).adapters, 2176U);
  for (const NodeId leaf : switches_of_level(fabric, 0)) {
    const Cables cables = cables_of(fabric, leaf);
    EXPECT_EQ(cables.to_hosts.at("4xEDR"), 17U);
    EXPECT_EQ(cables.to.size(), 3U);
    for (const auto& [upper, count] : cables.to) EXPECT_EQ(count, 6U);
  }
  for (const NodeId upper : switches_of_level(fabric, 1)) {
    const Cables cables = cables_of(fabric, upper);
    unsigned down = 0;
    for (const auto& [other, count] : cables.to) down += fabric.structure().at(other)[0] == 0 ? count : 0;
    EXPECT_EQ(down, 24U);
    EXPECT_EQ(cables.to_switches.at("4xEDR") - down, 8U);
  }
}

TEST(Machines, SummitDoesNotBlockAndSierraIsTwoToOne) {
  for (const auto& [text, hosts, up] : {std::tuple{"summit", 4608U, 18U}, {"sierra", 4320U, 9U}}) {
    const Fabric fabric = generate(text).value();
    EXPECT_EQ(count_hosts(fabric).hosts, hosts);
    EXPECT_EQ(count_hosts(fabric).adapters, 2 * hosts) << "two rails";
    for (const NodeId leaf : switches_of_level(fabric, 0)) {
      const Cables cables = cables_of(fabric, leaf);
      EXPECT_EQ(cables.to_hosts.at("4xEDR"), 18U) << text;
      EXPECT_EQ(cables.to_switches.at("4xEDR"), up) << text;
    }
    EXPECT_EQ(diameter(fabric), 4U);
  }
}

// "240 nodes are combined in one Booster group [...] 15 L1 (lower) switches, and 16 L2 (higher) switches", four
// adapters of NDR200 a node, groups that do not block.
TEST(Machines, JupitersGroupsDoNotBlock) {
  const Fabric fabric = generate("jupiter").value();
  const Cables leaf = cables_of(fabric, 0);
  EXPECT_LE(leaf.to_hosts.at("2xNDR"), 240U * 4U / 15U);
  EXPECT_EQ(2 * leaf.to_switches.at("4xNDR"), 240U * 4U / 15U);
  EXPECT_EQ(leaf.to.size(), 16U);
  EXPECT_LE(cables_of(fabric, 15).to_switches.at("4xNDR"), 64U);
}

TEST(Planes, AreJoinedByNothingAndGiveEachHostAnAdapter) {
  const Fabric one = generate("tree(4,2) hosts=14").value();
  const Fabric three = generate("tree(4,2) hosts=14 planes=3 rate=4xNDR host-rate=2xNDR").value();
  EXPECT_EQ(three.switch_count(), 3 * one.switch_count());
  EXPECT_EQ(three.links().size(), 3 * one.links().size());
  EXPECT_EQ(count_hosts(three).hosts, 14U);
  EXPECT_EQ(count_hosts(three).adapters, 42U);
  EXPECT_EQ(diameter(three), none) << "not connected";
  std::map<std::string, std::set<std::string>> planes;  // by host
  for (NodeId node = three.switch_count(); node < three.nodes().size(); ++node) {
    const PortId far = three.peer(three.port_of(node, 1));
    const std::string plane = three.node(three.port(far).node).name.substr(0, 2);
    EXPECT_TRUE(planes[std::string(host_of(three.node(node).name))].insert(plane).second);
    EXPECT_EQ(format(three.link(three.port(far).link).rate), "2xNDR");
  }
  for (const auto& [host, on] : planes) EXPECT_EQ(on, (std::set<std::string>{"p0", "p1", "p2"})) << host;
  for (const Link& link : three.links()) {
    if (!three.is_switch(three.port(link.a).node) || !three.is_switch(three.port(link.b).node)) continue;
    EXPECT_EQ(three.node(three.port(link.a).node).name.substr(0, 2),
              three.node(three.port(link.b).node).name.substr(0, 2));
    EXPECT_EQ(format(link.rate), "4xNDR");
  }
  EXPECT_EQ(generate("rails(2,4,2,2) planes=2").value().adapter_count(), 2U * 2U * 8U);
  EXPECT_EQ(generate("torus(3,3) planes=2").value().structure().shape, Shape::unknown) << "places are taken twice";
}

}  // namespace
}  // namespace holdfast::fabric
