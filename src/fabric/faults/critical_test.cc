#include "fabric/faults/critical.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random/stream.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// Which hosts reach each other, by trying: hosts[i] carries the smallest host that host i reaches.
std::vector<NodeId> groups(const Fabric& fabric) {
  std::vector<NodeId> label(fabric.nodes().size());
  for (NodeId id = 0; id < label.size(); ++id) label[id] = id;
  for (std::size_t round = 0; round < label.size(); ++round) {
    for (const Link& link : fabric.links()) {
      if (!link.up) continue;
      NodeId& a = label[fabric.port(link.a).node];
      NodeId& b = label[fabric.port(link.b).node];
      a = b = std::min(a, b);
    }
  }
  return label;
}

/// Whether some two hosts that were connected no longer are.
bool parted(const Fabric& before, const Fabric& after) {
  const auto then = groups(before);
  const auto now = groups(after);
  for (NodeId a = before.switch_count(); a < then.size(); ++a) {
    for (NodeId b = a + 1; b < then.size(); ++b) {
      if (then[a] == then[b] && now[a] != now[b]) return true;
    }
  }
  return false;
}

TEST(Criticality, AgreesWithTryingInRandomNetworks) {
  random::Stream stream(5);
  int critical_links = 0;
  int harmless_switches = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Fabric fabric;
    const auto switches = static_cast<NodeId>(2 + stream.below(6));
    for (NodeId s = 0; s < switches; ++s) fabric.add_node(NodeKind::switch_, 30, "s" + std::to_string(s));
    for (std::uint64_t i = stream.below(3 * switches); i > 0; --i)
      fabric.connect(static_cast<NodeId>(stream.below(switches)), static_cast<NodeId>(stream.below(switches)));
    for (std::uint64_t h = stream.below(6); h > 0; --h)
      fabric.connect(fabric.add_node(NodeKind::adapter, 1, "h" + std::to_string(h)),
                     static_cast<NodeId>(stream.below(switches)));
    Criticality criticality(fabric);
    for (LinkId link = 0; link < fabric.links().size(); ++link) {
      Fabric without = fabric;
      without.set_link_up(link, false);
      EXPECT_EQ(criticality.link_is_critical(link), parted(fabric, without)) << "trial " << trial << " link " << link;
      critical_links += criticality.link_is_critical(link) ? 1 : 0;
    }
    for (NodeId s = 0; s < switches; ++s) {
      Fabric without = fabric;
      for (std::uint32_t number = 1; number <= 30; ++number) {
        const LinkId link = fabric.port(fabric.node(s).first_port + number).link;
        if (link != none) without.set_link_up(link, false);
      }
      EXPECT_EQ(criticality.switch_is_critical(s), parted(fabric, without)) << "trial " << trial << " switch " << s;
      harmless_switches += criticality.switch_is_critical(s) ? 0 : 1;
    }
  }
  EXPECT_GT(critical_links, 50);
  EXPECT_GT(harmless_switches, 50);
}

TEST(Criticality, SaysWhichHostsAreLost) {
  const Fabric fabric = generate("tree(2,2)").value();  // host-0 and host-1 below s-0-0
  Criticality criticality(fabric);
  std::vector<LinkId> up;
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    if (fabric.port(fabric.link(id).a).node == 0) up.push_back(id);
  }
  ASSERT_EQ(up.size(), 2U);
  EXPECT_FALSE(criticality.loss_without({up[0]}).critical());
  EXPECT_EQ(criticality.loss_without(up).hosts.size(), 2U);
  EXPECT_FALSE(criticality.link_is_critical(up[0]));
  EXPECT_TRUE(criticality.switch_is_critical(0));
  EXPECT_FALSE(criticality.switch_is_critical(2));
}

TEST(Criticality, AHostWithTwoCablesMayLoseOne) {
  Fabric fabric;
  for (const char* name : {"a", "b"}) fabric.add_node(NodeKind::switch_, 4, name);
  fabric.connect(0, 1);
  const NodeId both = fabric.add_node(NodeKind::adapter, 2, "both");
  const LinkId first = fabric.connect(both, 0);
  fabric.connect(both, 1);
  const LinkId only = fabric.connect(fabric.add_node(NodeKind::adapter, 1, "single"), 1);
  Criticality criticality(fabric);
  EXPECT_FALSE(criticality.link_is_critical(first));
  EXPECT_TRUE(criticality.link_is_critical(only));
  EXPECT_FALSE(criticality.switch_is_critical(0));
}

}  // namespace
}  // namespace holdfast::fabric
