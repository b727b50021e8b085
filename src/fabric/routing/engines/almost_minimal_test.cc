#include "fabric/routing/engines/almost_minimal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// The links of the way from a host to each LID of another, hop by hop on the fabric itself.
std::vector<std::vector<PortId>> ways(const Fabric& fabric, const Forwarding& tables, NodeId from, NodeId to) {
  std::vector<std::vector<PortId>> found;
  const PortId port = fabric.port_of(to, 1);
  for (std::uint32_t layer = 0; layer < 1U << fabric.port(port).lmc; ++layer) {
    const naive::Way way = naive::walk(fabric, tables, fabric.port_of(from, 1), fabric.port(port).lid + layer, port);
    EXPECT_TRUE(way.arrives);
    found.emplace_back();
    for (const auto& [buffer, lane] : way.buffers) found.back().push_back(buffer);
  }
  return found;
}

/// How many of these share no link with one another, taken greedily, shortest first.
std::size_t disjoint(std::vector<std::vector<PortId>> all) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::set<PortId> used;
  std::size_t count = 0;
  for (const auto& way : all) {
    if (std::any_of(way.begin(), way.end(), [&](PortId port) { return used.contains(port); })) continue;
    used.insert(way.begin(), way.end());
    ++count;
  }
  return count;
}

TEST(Lnmp, LayersHaveShortestPathsThenThoseOfOneHopMore) {
  for (const char* text : {"slimfly(5) hosts=50 lmc=2", "hyperx(4,4) hosts=16 lmc=2", "dragonfly(4,1,2,5) lmc=1",
                           "random(16,5) hosts=16 ports=8 lmc=3", "tree(3,2) lmc=1"}) {
    SCOPED_TRACE(text);
    const Fabric fabric = generate(text).value();
    EngineOptions options;
    options.lanes = 15;
    const Forwarding tables = route(fabric, "lnmp", options).value();
    std::uint64_t longer = 0;
    std::map<std::size_t, unsigned> pairs_by_disjoint;
    for (NodeId from = fabric.switch_count(); from < fabric.nodes().size(); ++from) {
      for (NodeId to = fabric.switch_count(); to < fabric.nodes().size(); ++to) {
        if (from == to || fabric.port(fabric.peer(fabric.port_of(from, 1))).node ==
                              fabric.port(fabric.peer(fabric.port_of(to, 1))).node)
          continue;
        const auto all = ways(fabric, tables, from, to);
        for (const auto& way : all) {
          EXPECT_GE(way.size(), all[0].size()) << "layer 0 has shortest paths";
          EXPECT_LE(way.size(), all[0].size() + 1);
          longer += way.size() > all[0].size() ? 1 : 0;
        }
        ++pairs_by_disjoint[disjoint(all)];
      }
    }
    if (std::string_view(text).starts_with("tree")) {
      EXPECT_EQ(longer, 0U) << "cables of a tree join no two switches of one level";
    } else {
      EXPECT_GT(longer, 0U);
    }
    if (std::string_view(text).starts_with("hyperx")) {
      EXPECT_LT(pairs_by_disjoint[1], 240U / 20) << "nearly every pair has a second path without a common link";
    }
  }
}

/// Of 49 * 50 ordered pairs of switches of the deployed Slim Fly.
TEST(Lnmp, GivesPairsOfTheSlimFlySeveralPaths) {
  const Fabric fabric = generate("slimfly(5) hosts=50 lmc=3").value();
  const Forwarding tables = route(fabric, "lnmp").value();
  unsigned two = 0;
  unsigned pairs = 0;
  for (NodeId from = fabric.switch_count(); from < fabric.nodes().size(); ++from) {
    for (NodeId to = fabric.switch_count(); to < fabric.nodes().size(); ++to) {
      if (from == to) continue;
      ++pairs;
      two += disjoint(ways(fabric, tables, from, to)) >= 2 ? 1 : 0;
    }
  }
  EXPECT_EQ(pairs, 50U * 49);
  RecordProperty("pairs with two disjoint paths", static_cast<int>(two));
  EXPECT_GT(two, pairs * 3 / 4);
}

TEST(Lnmp, IsFreeOfDeadlockAndUsesNoMoreLanesThanThereAre) {
  for (const char* text : {"slimfly(5) hosts=50 lmc=2", "hyperx(3,3) hosts=18 lmc=2", "random(14,5) hosts=14 lmc=2"}) {
    const Fabric fabric = generate(text).value();
    for (const unsigned lanes : {4U, 8U, 15U}) {
      EngineOptions options;
      options.lanes = lanes;
      const auto tables = route(fabric, "lnmp", options);
      ASSERT_TRUE(tables.ok()) << text << ": " << tables.status().message();
      const naive::Verdict verdict = naive::judge(fabric, tables.value());
      EXPECT_TRUE(verdict.deadlock_free) << text << ", " << lanes << " lanes";
      EXPECT_EQ(verdict.routed, verdict.pairs) << text;
      EXPECT_LE(tables.value().lanes_used, lanes);
    }
  }
}

TEST(Lnmp, RefusesWhereShortestPathsAloneNeedMoreLanes) {
  EngineOptions one;
  one.lanes = 1;
  EXPECT_NE(route(generate("torus(5,5) hosts=25 lmc=1").value(), "lnmp", one).status().wrong().find("virtual lanes"),
            std::string::npos);
}

}  // namespace
}  // namespace holdfast::fabric
