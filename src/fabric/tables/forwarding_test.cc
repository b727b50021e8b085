#include "fabric/tables/forwarding.h"

#include <gtest/gtest.h>

namespace holdfast::fabric {
namespace {

Fabric two_switches() {
  Fabric fabric;
  const NodeId host = fabric.add_node(NodeKind::adapter, 1, "host");
  const NodeId a = fabric.add_node(NodeKind::switch_, 3, "a");
  const NodeId b = fabric.add_node(NodeKind::switch_, 3, "b");
  fabric.connect(a, b);
  fabric.connect(host, b);
  fabric.assign_lids();
  return fabric;
}

TEST(Forwarding, StartsEmptyOnServiceLevelAndLaneZero) {
  const Fabric fabric = two_switches();
  Forwarding tables(fabric);
  EXPECT_EQ(tables.rows(), 2U);
  EXPECT_EQ(tables.row_of(0), none);
  EXPECT_EQ(tables.switch_at(tables.row_of(2)), 2U);
  EXPECT_EQ(tables.lids(), 4U);
  EXPECT_EQ(tables.out_port(0, 3), Forwarding::no_port);
  EXPECT_EQ(tables.service_level(0, 1, 3), 0);
  EXPECT_EQ(tables.lane(0, 1, 2, 7), 7);
}

TEST(Forwarding, KeepsLevelsBySwitchOrBySource) {
  const Fabric fabric = two_switches();
  Forwarding tables(fabric);
  tables.set_service_level(1, 3, 1, 4);
  EXPECT_EQ(tables.service_level(1, 2, 1), 4) << "any source of the switch";
  EXPECT_EQ(tables.service_level(0, 3, 1), 0);
  Forwarding apart(fabric);
  apart.distinguish_sources();
  apart.set_service_level(1, 3, 1, 4);
  EXPECT_EQ(apart.service_level(1, 3, 1), 4);
  EXPECT_EQ(apart.service_level(1, 2, 1), 0);
}

TEST(Forwarding, OneLaneMapLeavesTheOthersIdentical) {
  const Fabric fabric = two_switches();
  Forwarding tables(fabric);
  LaneMap map = {};
  map[5] = 3;
  tables.set_lane_map(1, 2, 3, map);
  EXPECT_EQ(tables.lane(1, 2, 3, 5), 3);
  EXPECT_EQ(tables.lane(1, 3, 2, 5), 5);
  EXPECT_EQ(tables.lane(0, 2, 3, 5), 5);
}

}  // namespace
}  // namespace holdfast::fabric
