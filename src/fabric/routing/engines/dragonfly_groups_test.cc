#include "fabric/routing/engines/dragonfly_groups.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/random/stream.h"
#include "fabric/check/credit_loops.h"
#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

/// The generator's group of a switch.
std::uint32_t group_of(const Fabric& fabric, NodeId node) {
  return fabric.structure().at(node)[0];
}

TEST(DragonflyGroups, AreFoundInTheCables) {
  for (const char* text : {"dragonfly(4,2,2,5)", "dragonfly-10-5-5-4", "dragonfly(6,3,3,19)", "dragonfly(3,1,1,4)",
                           "dragonfly-plus(4,4,4,2,9)", "dragonfly-plus(3,2,2,2,4)"}) {
    SCOPED_TRACE(text);
    Fabric fabric = generate(text).value();
    fabric.set_link_up(0, false);  // a dead cable still tells
    const SwitchGraph graph(fabric);
    const auto groups = find_dragonfly_groups(fabric, graph);
    ASSERT_TRUE(groups);
    std::map<std::uint32_t, std::uint32_t> theirs;
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      const auto [known, first] = theirs.emplace(groups->of_row[row], group_of(fabric, graph.switch_at(row)));
      EXPECT_EQ(known->second, group_of(fabric, graph.switch_at(row)));
    }
    EXPECT_EQ(theirs.size(), fabric.structure().extent[0]);
    EXPECT_EQ(groups->count, fabric.structure().extent[0]);
  }
}

TEST(DragonflyGroups, AreNotSeenElsewhere) {
  for (const char* text : {"torus(5,5) hosts=25", "tree(4,3)", "hyperx(4,4) hosts=16", "slimfly(5) hosts=50",
                           "kautz(2,3) hosts=24", "random(16,4) hosts=32", "mesh(2) hosts=4", "dragonfly(4,2,2,1)"}) {
    const Fabric fabric = generate(text).value();
    EXPECT_FALSE(find_dragonfly_groups(fabric, SwitchGraph(fabric))) << text;
    EXPECT_FALSE(route(fabric, "dragonfly").ok()) << text;
  }
}

/// Walks every pair hop by hop: groups in turn are two for the first LID, and at most three for others.
TEST(Dragonfly, FirstLidsGoStraightAndOthersByAGroupBetween) {
  for (const char* text : {"dragonfly(4,2,2,5) lmc=1", "dragonfly-plus(3,3,2,2,7) lmc=2"}) {
    SCOPED_TRACE(text);
    const Fabric fabric = generate(text).value();
    const Forwarding tables = route(fabric, "dragonfly").value();
    EXPECT_EQ(tables.lanes_used, 3U);
    std::uint64_t between = 0;
    std::set<std::uint32_t> seen_between;
    for (NodeId from = fabric.switch_count(); from < fabric.nodes().size(); ++from) {
      for (NodeId to = fabric.switch_count(); to < fabric.nodes().size(); ++to) {
        if (from == to) continue;
        const PortId port = fabric.port_of(to, 1);
        for (std::uint32_t layer = 0; layer < 1U << fabric.port(port).lmc; ++layer) {
          const naive::Way way =
              naive::walk(fabric, tables, fabric.port_of(from, 1), fabric.port(port).lid + layer, port);
          ASSERT_TRUE(way.arrives);
          unsigned crossed = 0;
          for (const auto& [out, lane] : way.buffers) {
            EXPECT_EQ(lane, crossed) << "the lane is the number of links between groups behind it";
            const std::uint32_t here = group_of(fabric, fabric.port(out).node);
            const std::uint32_t there = group_of(fabric, fabric.port(fabric.peer(out)).node);
            crossed += here == there ? 0 : 1;
            if (crossed == 1 && here != there) seen_between.insert(there);
          }
          if (layer == 0) {
            EXPECT_LE(crossed, 1U);
            EXPECT_LE(way.buffers.size(), 3U);
          }
          EXPECT_LE(crossed, 2U);
          between += crossed == 2 ? 1 : 0;
        }
      }
    }
    EXPECT_GT(between, 0U);
    EXPECT_EQ(seen_between.size(), fabric.structure().extent[0]);
    EXPECT_TRUE(naive::judge(fabric, tables).deadlock_free);
  }
}

TEST(Dragonfly, IsFreeOfDeadlockWholeAndDamagedUnderAllNumbers) {
  unsigned routed = 0;
  for (const char* text : {"dragonfly(4,2,2,5)", "dragonfly(4,2,2,5) lmc=1", "dragonfly(5,1,1,6) lmc=1",
                           "dragonfly-plus(3,3,2,2,7)", "dragonfly-plus(3,3,2,2,7) lmc=1"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Fabric fabric = generate(text).value();
      fabric = renumber(fabric, draw_renumbering(fabric, seed));
      random::Stream draw = random::Stream(seed).child(text);
      for (std::uint64_t failed = 1; failed < seed; ++failed) {
        const auto link = static_cast<LinkId>(draw.below(fabric.links().size()));
        const Link& cable = fabric.link(link);
        if (fabric.is_switch(fabric.port(cable.a).node) && fabric.is_switch(fabric.port(cable.b).node))
          fabric.set_link_up(link, false);
      }
      const auto tables = route(fabric, "dragonfly");
      if (!tables.ok()) {
        EXPECT_GT(seed, 1U) << tables.status().message();
        continue;
      }
      ++routed;
      SCOPED_TRACE(std::string(text) + ", seed " + std::to_string(seed));
      EXPECT_EQ(check_paths(fabric, tables.value()).lost_pairs(), 0U);
      EXPECT_TRUE(naive::judge(fabric, tables.value()).deadlock_free);
    }
  }
  EXPECT_GT(routed, 18U);
}

TEST(Dragonfly, NeedsOneLaneOnDragonflyPlusTwoOnADragonflyAndThreeForValiant) {
  EXPECT_EQ(route(generate("dragonfly-plus(3,3,2,2,7)").value(), "dragonfly").value().lanes_used, 1U);
  EXPECT_EQ(route(generate("dragonfly(4,2,2,5)").value(), "dragonfly").value().lanes_used, 2U);
  EngineOptions two;
  two.lanes = 2;
  EXPECT_EQ(route(generate("dragonfly(4,2,2,5) lmc=1").value(), "dragonfly", two).status().wrong(),
            "needs 3 virtual lanes, 2 are there");
}

}  // namespace
}  // namespace holdfast::fabric
