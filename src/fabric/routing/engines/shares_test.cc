#include "fabric/routing/engines/shares.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "fabric/check/changes.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/choices.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

std::optional<Shares> shares_of(const SwitchGraph& graph) {
  return Shares::of(graph, levels_above_adapters(graph));
}

TEST(Shares, AreForCompleteTreesAlone) {
  for (const char* text : {"tree(3,3)", "xgft(3;5,4,7;1,3,2)", "xgft(2;12,22;1,11)", "xgft(4;3,2,3,4;1,2,3,2)"}) {
    Fabric fabric = generate(text).value();
    EXPECT_TRUE(shares_of(SwitchGraph(fabric))) << text;
    LinkId link = 0;  // between switches
    while (!fabric.is_switch(fabric.port(fabric.link(link).a).node) ||
           !fabric.is_switch(fabric.port(fabric.link(link).b).node))
      ++link;
    fabric.set_link_up(link, false);
    EXPECT_FALSE(shares_of(SwitchGraph(fabric))) << text;
  }
  for (const char* text : {"torus(4,4) hosts=16", "rails(2,8,2,2) links=4", "deimos-cluster", "dragonfly(4,2,2,5)"}) {
    const Fabric fabric = generate(text).value();
    EXPECT_FALSE(shares_of(SwitchGraph(fabric))) << text;
  }
}

// What a destination gets comes by neighbouring ways, each by as many sources as it has length there.
TEST(Shares, DestinationsLieSideBySideOnTheWays) {
  const Fabric fabric = generate("xgft(2;5,12;1,3)").value();
  const SwitchGraph graph(fabric);
  const std::optional<Shares> shares = shares_of(graph);
  ASSERT_TRUE(shares);
  // Five adapters on three ways: each three fifths of a way, so the second lies on the first two, two thirds and a
  // third.
  const std::vector<std::vector<unsigned>> sources = {{12, 0, 0}, {8, 4, 0}, {0, 12, 0}, {0, 4, 8}, {0, 0, 12}};
  for (std::uint64_t leaf = 0; leaf < 12; ++leaf) {
    std::vector<std::vector<unsigned>> seen(5, std::vector<unsigned>(3, 0));
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      if (graph.sources_at(row) == 0) continue;
      std::vector<std::uint32_t> arcs;
      for (std::uint32_t id = graph.first_arc(row); id < graph.first_arc(row + 1); ++id) arcs.push_back(id);
      shares->deal(row, arcs, leaf * 5, 5, [&](std::size_t first, std::size_t last, std::size_t way, unsigned) {
        for (std::size_t at = first; at < last; ++at) ++seen[at][way];
      });
    }
    EXPECT_EQ(seen, sources) << "leaf " << leaf;
  }
}

// The least possible is what all that a leaf sends comes to on each of its ways, or a pod.
TEST(Shares, CompleteTreesAreNearlyAsEvenAsCanBeUnderAnyNumbers) {
  struct Case {
    const char* text;
    double leaf_share;  // hosts of a leaf times hosts elsewhere, over ways
    double pod_share;
    double allowance;
  };
  for (const Case& one : {Case{"10-ary-3-tree", 11.0 * (1100 - 11) / 10, 110.0 * (1100 - 110) / 100, 1.001},
                          Case{"xgft(3;18,18,12;1,12,12)", 18.0 * (3888 - 18) / 12, 324.0 * (3888 - 324) / 144, 1.031},
                          Case{"xgft(2;12,22;1,11)", 12.0 * (264 - 12) / 11, 0, 1.008},
                          Case{"xgft(4;4,3,3,4;1,3,2,2)", 4.0 * (144 - 4) / 3, 36.0 * (144 - 36) / 12, 1.23}}) {
    const Fabric listed = generate(one.text).value();
    for (std::uint64_t seed = 0; seed <= 2; ++seed) {
      const Fabric fabric = seed == 0 ? listed : renumber(listed, draw_renumbering(listed, seed));
      const PathReport report = check_paths(fabric, route(fabric, "sssp").value());
      EXPECT_TRUE(report.complete()) << one.text;
      EXPECT_LE(static_cast<double>(report.index.max), one.allowance * std::max(one.leaf_share, one.pod_share))
          << one.text << ", numbers " << seed;
    }
  }
}

TEST(Shares, TablesDoNotDependOnThreads) {
  const Fabric fabric = generate("10-ary-3-tree").value();
  EngineOptions options;
  options.threads = 1;
  const Forwarding alone = route(fabric, "updn", options).value();
  options.threads = 5;
  EXPECT_EQ(compare_tables(fabric, alone, route(fabric, "updn", options).value()).changed, 0U);
}

}  // namespace
}  // namespace holdfast::fabric
