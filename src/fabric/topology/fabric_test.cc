#include "fabric/topology/fabric.h"

#include <gtest/gtest.h>

namespace holdfast::fabric {
namespace {

TEST(Fabric, ConnectsLowestFreePortsAndKeepsIdsWhenALinkFails) {
  Fabric fabric;
  const NodeId left = fabric.add_node(NodeKind::switch_, 2, "left");
  const NodeId right = fabric.add_node(NodeKind::switch_, 2, "right");
  const NodeId host = fabric.add_node(NodeKind::adapter, 1, "host");
  const LinkId between = fabric.connect(left, right);
  EXPECT_EQ(fabric.connect(host, right), between + 1);
  EXPECT_EQ(fabric.connect(host, left), none) << "the adapter has one port";
  EXPECT_EQ(fabric.peer(fabric.port_of(left, 1)), fabric.port_of(right, 1));
  EXPECT_EQ(fabric.peer(fabric.port_of(host, 1)), fabric.port_of(right, 2));
  EXPECT_EQ(fabric.number_of(fabric.port_of(right, 2)), 2);
  fabric.set_link_up(between, false);
  EXPECT_EQ(fabric.peer(fabric.port_of(left, 1)), none);
  EXPECT_EQ(fabric.connect(left, right), none) << "the failed cable still fills its ports on the right";
  EXPECT_EQ(fabric.switch_count(), 2U);
  EXPECT_EQ(fabric.adapter_count(), 1U);
}

TEST(Fabric, ANodeCanBeCabledToItself) {
  Fabric fabric;
  const NodeId node = fabric.add_node(NodeKind::switch_, 3, "loop");
  EXPECT_NE(fabric.connect(node, node), none);
  EXPECT_EQ(fabric.peer(fabric.port_of(node, 1)), fabric.port_of(node, 2));
  EXPECT_EQ(fabric.connect(node, node), none) << "one port is left";
  EXPECT_EQ(fabric.port(fabric.port_of(node, 3)).link, none);
}

TEST(Fabric, LidsAndGuidsAreUnique) {
  Fabric fabric;
  const NodeId host = fabric.add_node(NodeKind::adapter, 2, "host");
  const NodeId a = fabric.add_node(NodeKind::switch_, 4, "a");
  fabric.connect(host, a);
  fabric.assign_lids();
  EXPECT_EQ(fabric.port(fabric.port_of(a, 0)).lid, 1U);
  EXPECT_EQ(fabric.port(fabric.port_of(a, 3)).lid, 1U);
  EXPECT_EQ(fabric.port(fabric.port_of(host, 1)).lid, 2U);
  EXPECT_EQ(fabric.port(fabric.port_of(host, 2)).lid, 0U) << "no cable, no LID";
  EXPECT_EQ(fabric.top_lid(), 2U);
  EXPECT_EQ(fabric.find_guid(fabric.node(a).guid), a);
  EXPECT_NE(fabric.port(fabric.port_of(host, 2)).guid, fabric.node(a).guid);
  EXPECT_EQ(fabric.find("a"), a);
  EXPECT_EQ(fabric.find("b"), none);
}

TEST(Fabric, LmcGivesAdaptersAlignedBlocksOfLids) {
  Fabric fabric;
  const NodeId a = fabric.add_node(NodeKind::switch_, 4, "a");
  const NodeId first = fabric.add_node(NodeKind::adapter, 1, "first");
  const NodeId second = fabric.add_node(NodeKind::adapter, 1, "second");
  fabric.connect(first, a);
  fabric.connect(second, a);
  fabric.assign_lids(2);
  EXPECT_EQ(fabric.port(fabric.port_of(a, 0)).lid, 1U);
  EXPECT_EQ(fabric.port(fabric.port_of(first, 1)).lid, 4U);
  EXPECT_EQ(fabric.port(fabric.port_of(second, 1)).lid, 8U);
  EXPECT_EQ(fabric.top_lid(), 11U);
}

}  // namespace
}  // namespace holdfast::fabric
