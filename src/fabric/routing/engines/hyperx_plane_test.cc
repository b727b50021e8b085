#include "fabric/routing/engines/hyperx_plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/random/stream.h"
#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

TEST(HyperXPlane, IsFoundInTheCablesUnderAllNumbers) {
  for (const char* text : {"hyperx(4,4) hosts=16", "hyperx(3,5) hosts=15", "hyperx(12,8) hosts=96", "hyperx(2,3)"}) {
    Fabric fabric = generate(text).value();
    const std::vector<std::uint32_t> extent = fabric.structure().extent;
    fabric = renumber(fabric, draw_renumbering(fabric, 3));
    fabric.set_link_up(1, false);  // a dead cable still tells
    const auto plane = find_hyperx_plane(fabric, SwitchGraph(fabric));
    ASSERT_TRUE(plane) << text;
    EXPECT_EQ(std::minmax(plane->size[0], plane->size[1]), std::minmax(extent[0], extent[1])) << text;
  }
  for (const char* text : {"torus(5,5)", "hyperx(4)", "hyperx(3,3,3)", "slimfly(5)", "dragonfly(4,2,2,5)", "mesh(3,3)",
                           "tree(3,2)", "random(16,6) ports=8"}) {
    const Fabric fabric = generate(text).value();
    EXPECT_FALSE(find_hyperx_plane(fabric, SwitchGraph(fabric))) << text;
    EXPECT_FALSE(route(fabric, "parx").ok()) << text;
  }
}

/// The paper's point: between two switches of a half, two LIDs lead by the other half and two are shortest.
TEST(Parx, AvoidsTheCablesOfOneHalfForEachLid) {
  const Fabric fabric = generate("hyperx(4,4) hosts=16 lmc=2").value();
  const Forwarding tables = route(fabric, "parx").value();
  unsigned shortest = 0;
  unsigned detours = 0;
  for (NodeId from = fabric.switch_count(); from < fabric.nodes().size(); ++from) {
    for (NodeId to = fabric.switch_count(); to < fabric.nodes().size(); ++to) {
      if (from == to) continue;
      const PortId port = fabric.port_of(to, 1);
      const auto a = fabric.structure().at(fabric.port(fabric.peer(fabric.port_of(from, 1))).node);
      const auto b = fabric.structure().at(fabric.port(fabric.peer(port)).node);
      const std::size_t least = (a[0] == b[0] ? 0 : 1) + (a[1] == b[1] ? 0 : 1);
      std::size_t best = 99;
      for (std::uint32_t layer = 0; layer < 4; ++layer) {
        const naive::Way way =
            naive::walk(fabric, tables, fabric.port_of(from, 1), fabric.port(port).lid + layer, port);
        ASSERT_TRUE(way.arrives);
        EXPECT_LE(way.buffers.size(), least + 2);
        best = std::min(best, way.buffers.size());
        ++(way.buffers.size() == least ? shortest : detours);
      }
      EXPECT_EQ(best, least) << "one LID at least has a shortest path";
    }
  }
  EXPECT_GT(detours, shortest / 8);
  EXPECT_TRUE(naive::judge(fabric, tables).deadlock_free);
}

TEST(Parx, RoutesDamagedFabricsWithoutDeadlock) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Fabric fabric = generate("hyperx(4,3) hosts=12 lmc=2").value();
    random::Stream draw = random::Stream(seed).child("failed links");
    for (unsigned failed = 0; failed < 2 * seed; ++failed) {
      const auto link = static_cast<LinkId>(draw.below(fabric.links().size()));
      if (fabric.is_switch(fabric.port(fabric.link(link).a).node) &&
          fabric.is_switch(fabric.port(fabric.link(link).b).node))
        fabric.set_link_up(link, false);
    }
    EngineOptions options;
    options.lanes = 15;
    const auto tables = route(fabric, "parx", options);
    ASSERT_TRUE(tables.ok()) << tables.status().message();
    EXPECT_EQ(check_paths(fabric, tables.value()).lost_pairs(), 0U) << seed;
    EXPECT_TRUE(naive::judge(fabric, tables.value()).deadlock_free) << seed;
  }
}

TEST(Parx, WantsFourLids) {
  EXPECT_EQ(route(generate("hyperx(4,4) hosts=16 lmc=1").value(), "parx").status().remedy(), "give an LMC of 2");
}

}  // namespace
}  // namespace holdfast::fabric
