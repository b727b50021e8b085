#include "fabric/routing/engines/ways_down.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/choices.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

Fabric numbered(const Fabric& fabric, std::uint64_t seed) {
  return seed == 0 ? fabric : renumber(fabric, draw_renumbering(fabric, seed));
}

/// By channel: on how many ways down it is.
std::map<std::uint32_t, std::uint64_t> dealt(const SwitchGraph& graph, const WaysDown& ways) {
  std::map<std::uint32_t, std::uint64_t> count;
  for (std::size_t terminal = 0; terminal < graph.terminals().size(); ++terminal)
    for (const std::uint32_t channel : ways.to(terminal)) ++count[channel];
  return count;
}

std::set<std::uint32_t> rows_above(const SwitchGraph& graph, const std::vector<std::uint32_t>& level,
                                   std::uint32_t row) {
  std::set<std::uint32_t> above;
  for (const SwitchGraph::Arc& arc : graph.arcs_of(row))
    if (level[arc.to] > level[row]) above.insert(arc.to);
  return above;
}

TEST(WaysDown, LeadFromARootToTheLeafEachChannelInTurn) {
  for (const char* text : {"tree(4,2)", "tree(3,3)", "xgft(3;4,3,5;1,2,6)"}) {
    const Fabric fabric = generate(text).value();
    const SwitchGraph graph(fabric);
    const std::vector<std::uint32_t> level = levels_above_adapters(graph);
    const WaysDown ways(graph, level);
    for (std::size_t terminal = 0; terminal < graph.terminals().size(); ++terminal) {
      std::uint32_t row = graph.terminals()[terminal].row;
      for (const std::uint32_t channel : ways.to(terminal)) {
        const SwitchGraph::Arc& arc = graph.arc(graph.channels()[channel].arc);
        EXPECT_EQ(arc.to, row) << text;
        row = arc.from;
      }
      EXPECT_TRUE(rows_above(graph, level, row).empty()) << text << ": ends below a root";
    }
    std::map<std::uint32_t, std::set<std::uint64_t>> counts;  // by level, of the channels down from there
    for (const auto& [channel, count] : dealt(graph, ways))
      counts[level[graph.arc(graph.channels()[channel].arc).from]].insert(count);
    for (const auto& [from, different] : counts) EXPECT_LE(*different.rbegin() - *different.begin(), 1U) << text;
  }
}

// What comes by a cable because sender and leaf share no other switch above is counted here leaf by leaf and pair by
// pair.
TEST(WaysDown, KeepOffCablesThatMuchComesBy) {
  const Fabric listed = generate("tsubame2-rail").value();
  for (std::uint64_t seed = 0; seed <= 2; ++seed) {
    const Fabric fabric = numbered(listed, seed);
    const SwitchGraph graph(fabric);
    const std::vector<std::uint32_t> level = levels_above_adapters(graph);
    const auto count = dealt(graph, WaysDown(graph, level));
    unsigned full = 0;
    for (std::uint32_t leaf = 0; leaf < graph.rows(); ++leaf) {
      if (graph.terminals_at(leaf).empty()) continue;
      std::map<std::uint32_t, std::uint64_t> only_by;  // by row above: routes
      for (std::uint32_t other = 0; other < graph.rows(); ++other) {
        if (other == leaf || graph.sources_at(other) == 0) continue;
        std::set<std::uint32_t> shared;
        for (const std::uint32_t above : rows_above(graph, level, other))
          if (rows_above(graph, level, leaf).contains(above)) shared.insert(above);
        if (shared.size() == 1) only_by[*shared.begin()] += graph.sources_at(other) * graph.terminals_at(leaf).size();
      }
      for (const auto& [above, routes] : only_by) {
        if (routes < 2 * graph.source_count()) continue;
        for (const SwitchGraph::Arc& arc : graph.arcs_of(above)) {
          if (arc.to != leaf) continue;
          ++full;
          EXPECT_FALSE(count.contains(arc.first_channel)) << routes << " routes come by it anyhow";
        }
      }
    }
    EXPECT_GT(full, 0U);
  }
}

// OpenSM 3.3.23's ftree has 5,985 to 6,672 on 50 such files (docs/results/renumbering.md), and ours had 6,672 on each.
TEST(Ftree, RoutesTheRailOfTsubame2AsEvenlyAsShortestPathsCan) {
  const Fabric listed = generate("tsubame2-rail").value();
  for (std::uint64_t seed = 0; seed <= 3; ++seed) {
    const Fabric fabric = numbered(listed, seed);
    const Forwarding tables = route(fabric, "ftree").value();
    const PathReport paths = check_paths(fabric, tables);
    EXPECT_TRUE(paths.complete()) << "numbers " << seed;
    EXPECT_EQ(paths.index.max, 4'560U) << "numbers " << seed;
    EXPECT_TRUE(check_credit_loops(fabric, tables).none_found()) << "numbers " << seed;
  }
}

}  // namespace
}  // namespace holdfast::fabric
