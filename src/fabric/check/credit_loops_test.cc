#include "fabric/check/credit_loops.h"

#include <gtest/gtest.h>

#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// A ring of n switches with a host each, all traffic clockwise. Port 1 leads on, port 2 back, port 3 to the host.
struct Ring {
  Fabric fabric;
  Forwarding tables;
  explicit Ring(std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) fabric.add_node(NodeKind::switch_, 3, "s" + std::to_string(i));
    for (std::uint32_t i = 0; i < n; ++i) fabric.add_node(NodeKind::adapter, 1, "h" + std::to_string(i));
    for (std::uint32_t i = 0; i < n; ++i) fabric.add_link(fabric.port_of(i, 1), fabric.port_of((i + 1) % n, 2));
    for (std::uint32_t i = 0; i < n; ++i) fabric.add_link(fabric.port_of(i, 3), fabric.port_of(n + i, 1));
    fabric.assign_lids();
    tables = Forwarding(fabric);
    for (std::uint32_t row = 0; row < n; ++row) {
      for (std::uint32_t host = 0; host < n; ++host) tables.set_out_port(row, n + 1 + host, row == host ? 3 : 1);
    }
  }
};

TEST(CheckCreditLoops, PrintsTheLoopOfARing) {
  const Ring ring(4);
  const CreditLoopReport report = check_credit_loops(ring.fabric, ring.tables);
  EXPECT_EQ(report.channels, 4U);
  EXPECT_EQ(report.dependencies, 4U);
  ASSERT_EQ(report.loops.size(), 1U);
  EXPECT_EQ(describe(ring.fabric, report.loops[0]),
            "lane 0: s0 port 1 -> s1 port 1 -> s2 port 1 -> s3 port 1 -> s0 port 1");
  EXPECT_FALSE(naive::judge(ring.fabric, ring.tables).deadlock_free);
}

TEST(CheckCreditLoops, ServiceLevelsBreakIt) {
  Ring ring(3);
  for (std::uint32_t row = 0; row < 3; ++row) {  // lane 1 for what passes from s2 to s0
    for (std::uint32_t host = 0; host < row; ++host) ring.tables.set_service_level(row, 4 + row, 4 + host, 1);
  }
  const CreditLoopReport report = check_credit_loops(ring.fabric, ring.tables);
  EXPECT_EQ(report.lanes, 2U);
  EXPECT_TRUE(naive::judge(ring.fabric, ring.tables).deadlock_free);
  EXPECT_TRUE(report.none_found());
}

TEST(CheckCreditLoops, LaneMapsCloseALoopOverTwoLanes) {
  Ring ring(3);
  LaneMap flip = {};  // leaving by s0's port 1 puts everything on lane 1, elsewhere on lane 0
  const LaneMap one = [] {
    LaneMap map = {};
    map.fill(1);
    return map;
  }();
  for (std::uint8_t in = 0; in <= 3; ++in) {
    for (std::uint32_t row = 0; row < 3; ++row) ring.tables.set_lane_map(row, in, 1, row == 0 ? one : flip);
  }
  const CreditLoopReport report = check_credit_loops(ring.fabric, ring.tables);
  ASSERT_EQ(report.loops.size(), 1U);
  EXPECT_EQ(describe(ring.fabric, report.loops[0]),
            "s0 port 1 lane 1 -> s1 port 1 lane 0 -> s2 port 1 lane 0 -> s0 port 1 lane 1");
  EXPECT_FALSE(naive::judge(ring.fabric, ring.tables).deadlock_free);
}

TEST(CheckCreditLoops, SourcesCanBeToldApart) {
  Ring ring(3);
  ring.tables.distinguish_sources();
  EXPECT_FALSE(check_credit_loops(ring.fabric, ring.tables).none_found());
  ring.tables.set_service_level(2, 6, 4, 3);  // h2 to h0 and on to h1 by lane 3
  ring.tables.set_service_level(2, 6, 5, 3);
  const CreditLoopReport report = check_credit_loops(ring.fabric, ring.tables);
  EXPECT_EQ(report.none_found(), naive::judge(ring.fabric, ring.tables).deadlock_free);
  EXPECT_TRUE(report.none_found());
  EXPECT_EQ(report.lanes, 2U) << "0 and 3";
}

TEST(CheckCreditLoops, LostRoutesStillHoldWhatTheyPassed) {
  Ring ring(4);
  for (std::uint32_t row = 0; row < 4; ++row) ring.tables.set_out_port(row, 5 + row, Forwarding::no_port);
  EXPECT_FALSE(check_credit_loops(ring.fabric, ring.tables).none_found());
}

TEST(CheckCreditLoops, AgreesWithThePlainOracleOnRandomTables) {
  unsigned with = 0;
  unsigned without = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Fabric fabric = generate("random(8,3) hosts=8 ports=6 seed=" + std::to_string(seed)).value();
    for (const char* engine : {"minhop", "dor", "sssp", "updn"}) {
      const Forwarding tables = route(fabric, engine).value();
      const bool free = check_credit_loops(fabric, tables, seed % 3 + 1).none_found();
      EXPECT_EQ(free, naive::judge(fabric, tables).deadlock_free) << engine << ", seed " << seed;
      ++(free ? without : with);
    }
  }
  EXPECT_GT(with, 10U);
  EXPECT_GT(without, 10U);
}

}  // namespace
}  // namespace holdfast::fabric
