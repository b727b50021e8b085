#include "fabric/routing/engines/up_down_tables.h"

#include <gtest/gtest.h>

#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/choices.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(UpDownTables, HoldForTreesRoutedByTheirLevels) {
  for (const char* text : {"tree(3,3)", "xgft(3;2,3,4;1,2,3)", "rails(2,3,2,2;2,2)"}) {
    const Fabric fabric = generate(text).value();
    const SwitchGraph graph(fabric);
    const UpDownTables up_down(graph, levels_above_adapters(graph));
    for (const char* engine : {"ftree", "updn", "dmodc", "minhop"}) {
      for (const unsigned threads : {1U, 3U})
        EXPECT_TRUE(up_down.holds(route(fabric, engine).value(), threads)) << text << " by " << engine;
    }
  }
}

// The first leaf's packets for a host of another pod: up to a switch that sends them down into the leaf beside, and up
// again.
TEST(UpDownTables, DoNotHoldWhereARouteTurnsUpAgain) {
  const Fabric fabric = generate("tree(2,3)").value();
  const SwitchGraph graph(fabric);
  const UpDownTables up_down(graph, levels_above_adapters(graph));
  Forwarding tables = route(fabric, "ftree").value();
  const Lid far = graph.terminals_at(3).front().lid;
  const auto port_to = [&](std::uint32_t from, std::uint32_t to) {
    for (const SwitchGraph::Arc& arc : graph.arcs_of(from)) {
      if (arc.to == to) return graph.channels()[arc.first_channel].port;
    }
    return Forwarding::no_port;
  };
  const std::uint32_t first_above = graph.arcs_of(0)[0].to;
  const std::uint32_t other_above = graph.arcs_of(0)[1].to;
  tables.set_out_port(first_above, far, port_to(first_above, 1));
  tables.set_out_port(1, far, port_to(1, other_above));
  tables.set_out_port(0, far, port_to(0, other_above));
  EXPECT_TRUE(up_down.holds(tables, 1)) << "nobody goes by the entry that turns";
  tables.set_out_port(0, far, port_to(0, first_above));
  EXPECT_FALSE(up_down.holds(tables, 1));
  EXPECT_FALSE(up_down.holds(tables, 2));
}

}  // namespace
}  // namespace holdfast::fabric
