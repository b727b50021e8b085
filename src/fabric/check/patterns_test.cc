#include "fabric/check/patterns.h"

#include <gtest/gtest.h>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

std::vector<PortId> hosts_of(const Fabric& fabric) {
  std::vector<PortId> hosts;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) hosts.push_back(fabric.port_of(node, 1));
  }
  return hosts;
}

PatternShares shares(const char* text, const char* engine) {
  const Fabric fabric = generate(text).value();
  return measure_patterns(fabric, route(fabric, engine).value(), hosts_of(fabric));
}

TEST(Patterns, OneSwitchGivesAll) {
  Fabric fabric;
  fabric.add_node(NodeKind::switch_, 8, "switch");
  for (int i = 0; i < 5; ++i) fabric.connect(0, fabric.add_node(NodeKind::adapter, 1, std::to_string(i)));
  fabric.assign_lids();
  const PatternShares all = measure_patterns(fabric, route(fabric, "minhop").value(), hosts_of(fabric));
  EXPECT_DOUBLE_EQ(all.exchange, 1);
  EXPECT_DOUBLE_EQ(all.bisection, 1);
}

TEST(Patterns, ACableForTwoIsShared) {
  // Four hosts, two a switch. Shifts by 1 and 3: one crosses each way. By 2: both cross. (1 + 2 + 1) / 3 steps each.
  EXPECT_DOUBLE_EQ(shares("mesh(2) hosts=4", "minhop").exchange, 3.0 / 4);
}

TEST(Patterns, AFatTreeShiftsWithoutContention) {
  EXPECT_DOUBLE_EQ(shares("tree(4,2)", "ftree").exchange, 1);
}

}  // namespace
}  // namespace holdfast::fabric
