#include "fabric/routing/engines/relief.h"

#include <gtest/gtest.h>

#include "fabric/check/changes.h"
#include "fabric/check/paths.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

// What was tried and not kept leaves no trace: loads and costs are those of the tables, counted anew.
TEST(Relief, LoadsAreThoseOfTheTablesAfterManyLooks) {
  for (const char* text : {"deimos-cluster", "torus(4,4) hosts=48", "dragonfly(4,2,2,5)"}) {
    const Fabric fabric = generate(text).value();
    const SwitchGraph graph(fabric);
    for (const auto picking : {Balance::Picking::at_once, Balance::Picking::one_by_one}) {
      Forwarding tables = graph.local_tables(fabric, 1);
      Balance balance(graph, picking);
      const std::vector<Choices> known = choices_to_all(graph, MinimalRule(graph), 1);
      for (std::uint32_t row = 0; row < graph.rows(); ++row) lay_routes(graph, row, known[row], balance, tables);
      const std::vector<std::uint64_t> early = balance.loads();
      relieve(graph, 2, balance, tables, [&](std::uint32_t row) -> const Choices& { return known[row]; });
      EXPECT_NE(balance.loads(), early) << text << ": some looks helped";
      Balance again(graph, picking);
      const Relief by_channel(graph, again, tables);
      for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
        const Choices& choices = known[terminal.row];
        by_channel.read_picks(choices, terminal.lid, again.picks());
        again.count(choices);
      }
      EXPECT_EQ(balance.loads(), again.loads()) << text;
      for (std::uint32_t arc = 0; arc < graph.arcs().size(); ++arc) {
        EXPECT_EQ(balance.emptiest(arc), again.emptiest(arc)) << text;
        EXPECT_EQ(balance.cost(arc), again.cost(arc)) << text;
      }
    }
  }
}

/// Lengths of ways stay, and the fullest link, counted by walking all pairs, is never fuller.
TEST(Relief, OfTheFullestMakesNoLinkFullerThanThat) {
  unsigned better = 0;
  for (const char* text : {"deimos-cluster", "torus(4,4) hosts=48", "dragonfly(4,2,2,5)", "hyperx(4,4) hosts=64",
                           "kautz(2,3) hosts=24", "mesh(3,4) hosts=36"}) {
    const Fabric fabric = generate(text).value();
    const SwitchGraph graph(fabric);
    Forwarding tables = graph.local_tables(fabric, 1);
    Balance balance(graph);
    const std::vector<Choices> known = choices_to_all(graph, MinimalRule(graph), 1);
    for (std::uint32_t row = 0; row < graph.rows(); ++row) lay_routes(graph, row, known[row], balance, tables);
    relieve(graph, 2, balance, tables, [&](std::uint32_t row) -> const Choices& { return known[row]; });
    const PathReport before = check_paths(fabric, tables);
    Forwarding unchanged = tables;
    relieve_fullest(graph, 0, known, unchanged);
    EXPECT_EQ(compare_tables(fabric, tables, unchanged).changed, 0U);
    relieve_fullest(graph, 8, known, tables);
    const PathReport after = check_paths(fabric, tables);
    EXPECT_EQ(after.lost_pairs(), 0U) << text;
    EXPECT_LE(after.index.max, before.index.max) << text;
    EXPECT_DOUBLE_EQ(after.mean_hops(), before.mean_hops()) << text;
    if (after.index.max < before.index.max) ++better;
  }
  EXPECT_GE(better, 2U);
}

}  // namespace
}  // namespace holdfast::fabric
