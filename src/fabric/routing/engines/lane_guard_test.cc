#include "fabric/routing/engines/lane_guard.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

std::uint32_t arc_between(const SwitchGraph& graph, std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t id = graph.first_arc(from); id < graph.first_arc(from + 1); ++id) {
    if (graph.arc(id).to == to) return id;
  }
  return none;
}

/// A ring of four switches, each sending to LID 99 at the one before it: three hops clockwise.
TEST(LaneGuard, LetsInWhatClosesNoCycle) {
  const Fabric fabric = generate("torus(4) hosts=4").value();
  const SwitchGraph graph(fabric);
  ASSERT_EQ(graph.rows(), 4U);
  const auto clockwise = [&](std::uint32_t row) { return arc_between(graph, row, (row + 1) % 4); };
  Forwarding tables(fabric);
  const Lid lid = graph.terminals_at(3).front().lid;
  for (std::uint32_t row = 0; row < 3; ++row)
    tables.set_out_port(row, lid, graph.channels()[graph.arc(clockwise(row)).first_channel].port);
  const ArcTables arcs(graph, tables);
  const DependencySpace space(graph);
  AcyclicDependencies lane(space);
  LaneGuard guard(graph, arcs);

  guard.begin();
  EXPECT_TRUE(guard.admit(clockwise(0), lid, 3, lane));
  EXPECT_TRUE(lane.has(clockwise(0), clockwise(1)));
  EXPECT_TRUE(lane.has(clockwise(1), clockwise(2)));
  const std::size_t mark = guard.mark();
  EXPECT_TRUE(guard.add(clockwise(2), clockwise(3), mark, lane));
  EXPECT_FALSE(guard.add(clockwise(3), clockwise(0), mark, lane)) << "closes the ring";
  EXPECT_FALSE(lane.has(clockwise(2), clockwise(3))) << "taken back with it";
  EXPECT_TRUE(lane.has(clockwise(1), clockwise(2))) << "was there before";

  guard.drop_idle(lid, {1}, lane);  // row 0 sends nothing
  EXPECT_FALSE(lane.has(clockwise(0), clockwise(1)));
  EXPECT_TRUE(lane.has(clockwise(1), clockwise(2)));
  guard.begin();
  EXPECT_TRUE(guard.add(clockwise(2), clockwise(3), guard.mark(), lane));
  EXPECT_TRUE(guard.add(clockwise(3), clockwise(0), guard.mark(), lane)) << "the refusal is forgotten: a link is free";
}

}  // namespace
}  // namespace holdfast::fabric
