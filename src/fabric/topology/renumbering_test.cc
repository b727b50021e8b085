#include "fabric/topology/renumbering.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(Renumbering, KeepsEveryCableBetweenTheSameNodes) {
  Fabric fabric = generate("torus(3,4) links=2 hosts=24").value();
  fabric.set_link_up(7, false);
  const Renumbering numbers = draw_renumbering(fabric, 5);
  const Fabric other = renumber(fabric, numbers);
  ASSERT_EQ(other.nodes().size(), fabric.nodes().size());
  ASSERT_EQ(other.links().size(), fabric.links().size());
  std::size_t moved = 0;
  for (PortId id = 0; id < other.ports().size(); ++id) {
    const PortId old = numbers.ports[id];
    EXPECT_EQ(other.node(other.port(id).node).name, fabric.node(fabric.port(old).node).name);
    EXPECT_EQ(other.port(id).lid, fabric.port(old).lid);
    EXPECT_EQ(other.port(id).guid, fabric.port(old).guid);
    EXPECT_EQ(other.peer(id) == none ? none : numbers.ports[other.peer(id)], fabric.peer(old));
    moved += other.number_of(id) != fabric.number_of(old) ? 1 : 0;
  }
  EXPECT_GT(moved, 0U);
}

TEST(Renumbering, IsTheSameForTheSameSeed) {
  const Fabric fabric = generate("tree(4,2)").value();
  EXPECT_EQ(draw_renumbering(fabric, 1).ports, draw_renumbering(fabric, 1).ports);
  EXPECT_NE(draw_renumbering(fabric, 1).ports, draw_renumbering(fabric, 2).ports);
}

}  // namespace
}  // namespace holdfast::fabric
