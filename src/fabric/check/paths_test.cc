#include "fabric/check/paths.h"

#include <gtest/gtest.h>

#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// Switches a - b - c in a line, one host at each; LIDs: switches 1 to 3, hosts 4 to 6.
struct Line {
  Fabric fabric;
  Forwarding tables;
  Line() {
    for (const char* name : {"a", "b", "c"}) fabric.add_node(NodeKind::switch_, 4, name);
    for (const char* name : {"ha", "hb", "hc"}) fabric.add_node(NodeKind::adapter, 1, name);
    fabric.connect(0, 1);  // a port 1, b port 1
    fabric.connect(1, 2);  // b port 2, c port 1
    for (NodeId host = 3; host < 6; ++host) fabric.connect(host, host - 3);
    fabric.assign_lids();
    tables = route(fabric, "minhop").value();
  }
};

TEST(CheckPaths, CountsALine) {
  const Line line;
  const PathReport report = check_paths(line.fabric, line.tables);
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.pairs, 6U);
  EXPECT_EQ(report.routed, 6U);
  EXPECT_EQ(report.switches_lost, 0U);
  EXPECT_EQ(report.hops, (std::vector<std::uint64_t>{0, 4, 2}));
  EXPECT_DOUBLE_EQ(report.mean_hops(), 8.0 / 6);
  EXPECT_EQ(report.index.count, 4U);
  EXPECT_EQ(report.index.min, 2U);
  EXPECT_EQ(report.index.max, 2U);
  EXPECT_EQ(report.switch_routes, (std::vector<std::uint64_t>{4, 6, 4}));
  EXPECT_EQ(busiest_switches(line.tables, report, 1), (std::vector<NodeId>{1}));
  EXPECT_EQ(busiest_ports(line.fabric, report, 1), (std::vector<PortId>{line.fabric.port_of(0, 1)}));
}

TEST(CheckPaths, SaysWhyPairsAreLost) {
  Line line;
  line.tables.set_out_port(1, 6, Forwarding::no_port);  // b drops what goes to hc
  PathReport report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.lost[static_cast<int>(LossReason::dropped)], 2U);
  ASSERT_EQ(report.examples.size(), 2U);
  EXPECT_EQ(report.examples[0].source, line.fabric.port_of(3, 1));
  EXPECT_EQ(report.examples[0].destination, 6U);
  EXPECT_EQ(report.examples[0].at, 1U);

  line.tables.set_out_port(1, 6, 1);  // back to a, which sends it to b
  report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.lost[static_cast<int>(LossReason::looping)], 2U);

  line.tables.set_out_port(1, 6, 3);  // to hb
  report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.lost[static_cast<int>(LossReason::misdelivered)], 2U);

  line.tables.set_out_port(1, 6, 0);  // into the switch itself
  report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.lost[static_cast<int>(LossReason::misdelivered)], 2U);

  line.tables.set_out_port(1, 6, 77);  // no such port
  report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.lost[static_cast<int>(LossReason::dropped)], 2U);
  EXPECT_EQ(report.routed + report.lost_pairs(), report.pairs);
}

TEST(CheckPaths, AMissingServiceLevelLosesThePair) {
  Line line;
  line.tables.set_service_level(0, 4, 6, Forwarding::no_path);
  const PathReport report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.lost[static_cast<int>(LossReason::no_level)], 1U);
  EXPECT_EQ(report.routed, 5U);
  EXPECT_EQ(report.index.min, 1U) << "the lost pair uses no link";
  EXPECT_EQ(naive::judge(line.fabric, line.tables).routed, 5U);
}

TEST(CheckPaths, LostManagementIsCountedApart) {
  Line line;
  line.tables.set_out_port(0, 3, Forwarding::no_port);
  const PathReport report = check_paths(line.fabric, line.tables);
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.switches_lost, 1U);
}

TEST(CheckPaths, TellsCutsFromBadTables) {
  Line line;
  line.fabric.set_link_up(1, false);  // b - c
  PathReport report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.disconnected, 4U);
  EXPECT_EQ(report.lost_pairs(), 0U);
  line.fabric.set_link_up(4, false);  // hc's own
  report = check_paths(line.fabric, line.tables);
  EXPECT_EQ(report.unplugged, 1U);
  EXPECT_EQ(report.pairs, 2U);
  EXPECT_EQ(report.routed, 2U);
  EXPECT_EQ(count_unrouted(line.fabric, line.tables), 4U);
}

TEST(CheckPaths, CountsEveryLidOfAPort) {
  Line line;
  line.fabric.mutable_port(line.fabric.port_of(5, 1)).lmc = 2;  // hc: 6 to 9
  const Forwarding tables = route(line.fabric, "minhop").value();
  const PathReport report = check_paths(line.fabric, tables);
  EXPECT_EQ(report.pairs, 2U + 2U + 2U * 4);
  EXPECT_TRUE(report.complete());
}

TEST(CheckPaths, AgreesWithAPlainWalkAndWithAnyNumberOfThreads) {
  const Fabric fabric = generate("random(12,4) hosts=30 ports=12 seed=3").value();
  for (const char* engine : {"minhop", "sssp", "updn"}) {
    Forwarding tables = route(fabric, engine).value();
    for (Lid lid = 13; lid < 43; lid += 4) tables.set_out_port(lid % 12, lid, static_cast<std::uint8_t>(lid % 7));
    const PathReport report = check_paths(fabric, tables, 1);
    const naive::Verdict verdict = naive::judge(fabric, tables);
    EXPECT_EQ(report.pairs, verdict.pairs);
    EXPECT_EQ(report.routed, verdict.routed);
    EXPECT_EQ(count_unrouted(fabric, tables), verdict.pairs - verdict.routed);
    for (const auto& [port, routes] : verdict.routes) EXPECT_EQ(report.port_routes[port], routes);
    const PathReport again = check_paths(fabric, tables, 3);
    EXPECT_EQ(report.hops, again.hops);
    EXPECT_EQ(report.port_routes, again.port_routes);
    ASSERT_EQ(report.examples.size(), again.examples.size());
    for (std::size_t i = 0; i < report.examples.size(); ++i) {
      EXPECT_EQ(report.examples[i].source, again.examples[i].source);
      EXPECT_EQ(report.examples[i].destination, again.examples[i].destination);
    }
  }
}

TEST(SpreadOf, KnowsTheWholePopulation) {
  const Spread spread = spread_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(spread.min, 2U);
  EXPECT_EQ(spread.max, 9U);
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.deviation, 2);
  EXPECT_EQ(spread_of({}).count, 0U);
}

}  // namespace
}  // namespace holdfast::fabric
