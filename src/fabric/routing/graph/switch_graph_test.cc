#include "fabric/routing/graph/switch_graph.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

TEST(SwitchGraph, ParallelCablesAreOneArcInTheOrderOfTheLowestPort) {
  Fabric fabric;
  const NodeId a = fabric.add_node(NodeKind::switch_, 6, "a");
  const NodeId b = fabric.add_node(NodeKind::switch_, 6, "b");
  const NodeId c = fabric.add_node(NodeKind::switch_, 6, "c");
  fabric.add_link(fabric.port_of(a, 2), fabric.port_of(b, 1));
  fabric.add_link(fabric.port_of(a, 3), fabric.port_of(c, 4));
  fabric.add_link(fabric.port_of(a, 5), fabric.port_of(b, 6));
  fabric.add_link(fabric.port_of(a, 1), fabric.port_of(a, 6));  // of a switch to itself: left out
  fabric.set_link_up(fabric.add_link(fabric.port_of(a, 4), fabric.port_of(c, 1)), false);
  const SwitchGraph graph(fabric);
  ASSERT_EQ(graph.arcs_of(0).size(), 2U);
  const SwitchGraph::Arc& to_b = graph.arcs_of(0)[0];
  EXPECT_EQ(to_b.to, 1U);
  ASSERT_EQ(to_b.channels, 2U);
  EXPECT_EQ(graph.channels()[to_b.first_channel].port, 2);
  EXPECT_EQ(graph.channels()[to_b.first_channel + 1].port, 5);
  EXPECT_EQ(graph.only_port(graph.first_arc(0)), 0) << "one of several";
  const SwitchGraph::Arc& to_c = graph.arcs_of(0)[1];
  EXPECT_EQ(to_c.to, 2U);
  EXPECT_EQ(to_c.channels, 1U) << "the other cable is down";
  EXPECT_EQ(graph.only_port(graph.first_arc(0) + 1), 3);
}

TEST(SwitchGraph, ArcsAndTheirReversesAndChannelsBelongTogether) {
  for (const char* text : {"tree(4,3)", "deimos-cluster", "torus(5,5) hosts=50", "dragonfly-plus(4,4,4,4,5)"}) {
    const Fabric listed = generate(text).value();
    const Fabric fabric = renumber(listed, draw_renumbering(listed, 1));
    const SwitchGraph graph(fabric);
    std::uint32_t channels = 0;
    for (std::uint32_t id = 0; id < graph.arcs().size(); ++id) {
      const SwitchGraph::Arc& arc = graph.arc(id);
      const SwitchGraph::Arc& back = graph.arc(arc.reverse);
      ASSERT_EQ(back.reverse, id) << text;
      EXPECT_EQ(back.from, arc.to) << text;
      EXPECT_EQ(back.to, arc.from) << text;
      EXPECT_EQ(back.channels, arc.channels) << text;
      EXPECT_EQ(arc.first_channel, channels) << text;
      for (; channels < arc.first_channel + arc.channels; ++channels) {
        const SwitchGraph::Channel& channel = graph.channels()[channels];
        EXPECT_EQ(channel.arc, id) << text;
        const PortId far = fabric.peer(fabric.port_of(graph.switch_at(arc.from), channel.port));
        ASSERT_NE(far, none) << text;
        EXPECT_EQ(fabric.port(far).node, graph.switch_at(arc.to)) << text;
      }
    }
    EXPECT_EQ(channels, graph.channels().size()) << text;
  }
}

}  // namespace
}  // namespace holdfast::fabric
