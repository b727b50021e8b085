#include "fabric/routing/engines/relief.h"

#include <gtest/gtest.h>

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
        again.picks().assign(choices.order.size(), none);
        for (std::size_t i = 1; i < choices.order.size(); ++i)
          again.picks()[i] = by_channel.channel_of(choices.order[i], terminal.lid);
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

}  // namespace
}  // namespace holdfast::fabric
