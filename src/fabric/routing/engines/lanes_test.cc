#include "fabric/routing/engines/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <ostream>

#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

std::map<std::uint8_t, std::uint64_t> pairs_by_lane(const SwitchGraph& graph, const Forwarding& tables) {
  std::map<std::uint8_t, std::uint64_t> pairs;
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    if (graph.sources_at(source) == 0) continue;
    for (const SwitchGraph::Terminal& terminal : graph.terminals())
      pairs[tables.service_level(source, 0, terminal.lid)] += graph.sources_at(source);
  }
  return pairs;
}

std::uint32_t next_row(const SwitchGraph& graph, std::uint32_t row, std::uint8_t port) {
  for (const SwitchGraph::Channel& channel : graph.channels()) {
    if (graph.arc(channel.arc).from == row && channel.port == port) return graph.arc(channel.arc).to;
  }
  ADD_FAILURE() << "no channel out of row " << row << " at port " << int{port};
  return row;
}

TEST(Lanes, AnAcyclicLaneIsSpreadEvenlyOverAllThereAre) {
  const Fabric fabric = generate("tree(4,3)").value();
  const SwitchGraph graph(fabric);
  Forwarding tables = route(fabric, "sssp").value();
  EXPECT_TRUE(is_acyclic(graph, tables, 1));
  spread_over_lanes(graph, tables, 5);
  EXPECT_EQ(tables.lanes_used, 5);
  const auto pairs = pairs_by_lane(graph, tables);
  ASSERT_EQ(pairs.size(), 5U);
  for (const auto& [lane, count] : pairs) EXPECT_NEAR(static_cast<double>(count), 64 * 64 / 5.0, 64.0) << int{lane};
  EXPECT_TRUE(check_paths(fabric, tables).complete());
  EXPECT_TRUE(check_credit_loops(fabric, tables).none_found());
}

/// Hosts of a leaf take the roots in turn, and eight divides sixteen: dealt in turn over destinations, all that a leaf
/// sends to a root would have one lane.
TEST(Lanes, EveryChannelOfATreeUsesAllLanesAlike) {
  const Fabric fabric = generate("16-ary-2-tree").value();
  const SwitchGraph graph(fabric);
  const Forwarding tables = route(fabric, "dfsssp").value();
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::array<std::uint64_t, 8>> carried;  // by row and port
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
      if (graph.sources_at(source) == 0 || source == terminal.row) continue;
      const std::uint8_t lane = tables.service_level(source, 0, terminal.lid);
      for (std::uint32_t row = source; row != terminal.row;) {
        const std::uint8_t port = tables.out_port(row, terminal.lid);
        carried[{row, port}][lane] += graph.sources_at(source);
        row = next_row(graph, row, port);
      }
    }
  }
  ASSERT_EQ(carried.size(), 512U);
  for (const auto& [channel, lanes] : carried) {
    const auto [least, most] = std::minmax_element(lanes.begin(), lanes.end());
    EXPECT_LE(*most, *least + 32) << "of 240 routes, 16 from each leaf; row " << channel.first;
  }
}

/// By row and port: how many routes each lane carries.
std::map<std::pair<std::uint32_t, std::uint8_t>, std::array<std::uint64_t, 16>> carried_by_lane(
    const SwitchGraph& graph, const Forwarding& tables) {
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint32_t> next;
  for (const SwitchGraph::Channel& channel : graph.channels())
    next[{graph.arc(channel.arc).from, channel.port}] = graph.arc(channel.arc).to;
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::array<std::uint64_t, 16>> carried;
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
      if (graph.sources_at(source) == 0 || source == terminal.row) continue;
      const std::uint8_t lane = tables.service_level(source, 0, terminal.lid);
      for (std::uint32_t row = source; row != terminal.row;) {
        const std::pair out(row, tables.out_port(row, terminal.lid));
        carried[out][lane] += graph.sources_at(source);
        row = next.at(out);
      }
    }
  }
  return carried;
}

/// With as many lanes as are needed the first one had two thirds of what a cable of the mesh carries, and half of the
/// throughput that two or eight lanes have.
TEST(Lanes, AreFilledAlikeWhereNoneIsLeftToDealOut) {
  for (const char* text : {"mesh-3x3x3", "torus-3x3x3"}) {
    const Fabric fabric = generate(text).value();
    EngineOptions options;
    options.lanes = 4;
    const Forwarding tables = route(fabric, "dfsssp", options).value();
    EXPECT_EQ(tables.lanes_used, 4) << text;
    EXPECT_GT(2 * tables.lanes_needed, 4) << text << ": otherwise lanes are dealt out in parts";
    double share = 0;
    const auto carried = carried_by_lane(SwitchGraph(fabric), tables);
    for (const auto& [channel, lanes] : carried) {
      const auto sum = static_cast<double>(std::accumulate(lanes.begin(), lanes.end(), std::uint64_t{0}));
      share += static_cast<double>(*std::max_element(lanes.begin(), lanes.end())) / sum;
    }
    EXPECT_LT(share / static_cast<double>(carried.size()), 0.45) << text << ": 0.25 is the least";
    EXPECT_TRUE(check_paths(fabric, tables).complete());
    EXPECT_TRUE(check_credit_loops(fabric, tables).none_found());
  }
}

/// As on fabrics that are too large to walk each route.
TEST(Lanes, ATurnForEachLeafFillsTheLanesOfATreeAlike) {
  for (const auto& [text, lanes] : {std::pair{"tree(8,3)", 8U}, {"tree(8,3)", 4U}, {"16-ary-2-tree", 8U}}) {
    const Fabric fabric = generate(text).value();
    const SwitchGraph graph(fabric);
    Forwarding tables = route(fabric, "sssp").value();
    spread_over_lanes(graph, tables, lanes, 2, 0);
    EXPECT_EQ(tables.lanes_used, lanes);
    for (const auto& [channel, carried] : carried_by_lane(graph, tables)) {
      const auto [least, most] = std::minmax_element(carried.begin(), carried.begin() + lanes);
      EXPECT_LE(*most, *least + fabric.adapter_count() / 8) << text << ", row " << channel.first;
    }
    EXPECT_TRUE(check_credit_loops(fabric, tables).none_found());
  }
}

TEST(Lanes, SpreadingKeepsRoutesOfDifferentLanesApart) {
  const Fabric fabric = generate("torus(5,5) hosts=50").value();
  const SwitchGraph graph(fabric);
  Forwarding before = route(fabric, "sssp").value();
  EXPECT_FALSE(is_acyclic(graph, before, 1));
  const unsigned lanes = assign_lanes(graph, before, 255);
  ASSERT_LT(lanes, 8U);
  Forwarding after = before;
  spread_over_lanes(graph, after, 8);
  std::map<std::uint8_t, std::uint8_t> was;  // each lane's routes were in one before
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
      const std::uint8_t old = before.service_level(source, 0, terminal.lid);
      EXPECT_EQ(was.try_emplace(after.service_level(source, 0, terminal.lid), old).first->second, old);
    }
  }
  EXPECT_EQ(was.size(), 8U);
  EXPECT_TRUE(check_credit_loops(fabric, after).none_found());
  Forwarding same = before;
  spread_over_lanes(graph, same, lanes);
  EXPECT_EQ(pairs_by_lane(graph, same), pairs_by_lane(graph, before)) << "no lane is free";
}

TEST(Lanes, GivesUpBeyondWhatIsAllowed) {
  const Fabric fabric = generate("torus(5,5) hosts=50").value();
  const SwitchGraph graph(fabric);
  Forwarding tables = route(fabric, "sssp").value();
  EXPECT_EQ(assign_lanes(graph, tables, 1), 2U);
}

/// What OpenSM 3.3.23's dfsssp needs and its fullest link carries: bench/opensm_routing.py,
/// docs/results/opensm-routing-time.md. 0: it refuses, and routes nothing.
struct Recorded {
  const char* fabric;
  unsigned lanes;
  std::uint64_t index;
};
void PrintTo(const Recorded& recorded, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << recorded.fabric;
}

class DfssspBesideOpensm : public testing::TestWithParam<Recorded> {};

TEST_P(DfssspBesideOpensm, NeedsNoMoreLanesAndIsAsEven) {
  const Recorded& theirs = GetParam();
  const Fabric fabric = generate(theirs.fabric).value();
  const auto ours = route(fabric, "dfsssp");
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  EXPECT_LE(ours.value().lanes_needed, theirs.lanes);
  EXPECT_EQ(ours.value().lanes_used, 8) << "spread";
  const PathReport paths = check_paths(fabric, ours.value());
  EXPECT_TRUE(paths.complete());
  if (theirs.index != 0) {
    EXPECT_LE(paths.index.max, theirs.index);
  }
  EXPECT_TRUE(check_credit_loops(fabric, ours.value()).none_found());
}

INSTANTIATE_TEST_SUITE_P(Large, DfssspBesideOpensm,
                         testing::Values(Recorded{"torus-7x7x7", 9, 0}, Recorded{"dragonfly-14-7-7-23", 8, 3479},
                                         Recorded{"kautz-7-3", 9, 0}, Recorded{"10-ary-3-tree", 1, 1980},
                                         Recorded{"tsubame2-rail", 2, 5579}, Recorded{"deimos-cluster", 5, 4884}));

/// Cables of a torus in any ports: dimension order is found in the cables, not in the numbers of ports.
TEST(Dfsssp, FindsTheTorusWhateverPortsItsCablesAreIn) {
  const Fabric tidy = generate("torus(7,7,7) hosts=343").value();
  Fabric mixed;
  for (const Node& node : tidy.nodes()) mixed.add_node(node.kind, node.port_count, node.name, node.guid);
  std::vector<LinkId> links(tidy.links().size());
  std::iota(links.begin(), links.end(), 0U);
  std::sort(links.begin(), links.end(), [](LinkId a, LinkId b) { return a * 0x9E3779B1U < b * 0x9E3779B1U; });
  for (const LinkId link : links) mixed.connect(tidy.port(tidy.link(link).a).node, tidy.port(tidy.link(link).b).node);
  mixed.assign_lids();
  for (const char* engine : {"dfsssp", "lash"}) {
    const auto routed = route(mixed, engine);
    ASSERT_TRUE(routed.ok()) << routed.status().message();
    EXPECT_LE(std::max(routed.value().lanes_needed, routed.value().lanes_used), 8);
    EXPECT_TRUE(check_credit_loops(mixed, routed.value()).none_found());
  }
}

}  // namespace
}  // namespace holdfast::fabric
