#include "fabric/routing/engines/lane_loops.h"

#include <gtest/gtest.h>

#include "core/random/stream.h"
#include "fabric/check/credit_loops.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

bool has_loop(const Fabric& fabric, const Forwarding& tables) {
  return !find_lane_loop(fabric, SwitchGraph(fabric), tables, 2).empty();
}

TEST(LaneLoops, TheCheckerFindsThemWhereTheyAre) {
  for (const char* text : {"torus(5,5) hosts=50", "torus(4,4,3) hosts=48", "torus(6) hosts=12", "mesh(4,4) hosts=16",
                           "dragonfly(4,2,2,5)", "kautz(2,3) hosts=24"}) {
    Fabric fabric = generate(text).value();
    for (const char* engine : {"minhop", "torus-2qos", "dragonfly", "dor"}) {
      const auto tables = route(fabric, engine);
      if (!tables.ok()) continue;
      EXPECT_EQ(has_loop(fabric, tables.value()), !check_credit_loops(fabric, tables.value()).none_found())
          << text << " by " << engine;
    }
  }
}

/// Lane maps that forget a dateline.
TEST(LaneLoops, LanesOnTheWayCount) {
  const Fabric fabric = generate("torus(5) hosts=10").value();
  Forwarding tables = route(fabric, "torus-2qos").value();
  EXPECT_FALSE(has_loop(fabric, tables));
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const std::uint32_t ports = fabric.node(tables.switch_at(row)).port_count;
    for (std::uint32_t in = 0; in <= ports; ++in) {
      for (std::uint32_t out = 0; out <= ports; ++out)
        tables.set_lane_map(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out), LaneMap{});
    }
  }
  ASSERT_FALSE(check_credit_loops(fabric, tables).none_found());
  const SwitchGraph graph(fabric);
  const std::vector<LaneOfArc> loop = find_lane_loop(fabric, graph, tables, 1);
  EXPECT_EQ(loop.size(), 5U);
  EXPECT_TRUE(text_of(fabric, graph, loop).starts_with("lane 0: ")) << text_of(fabric, graph, loop);
}

/// Takes down a link between switches, or all cables of a switch.
void fail_something(Fabric& fabric, bool whole_switch, random::Stream& draw) {
  const auto dead = static_cast<NodeId>(draw.below(fabric.switch_count()));
  const auto one = static_cast<LinkId>(draw.below(fabric.links().size()));
  for (LinkId link = 0; link < fabric.links().size(); ++link) {
    const NodeId a = fabric.port(fabric.link(link).a).node;
    const NodeId b = fabric.port(fabric.link(link).b).node;
    if (whole_switch ? a == dead || b == dead : link == one && fabric.is_switch(a) && fabric.is_switch(b))
      fabric.set_link_up(link, false);
  }
}

/// Whoever shares no code judges what damaged fabrics are routed by, as long as they are.
TEST(LaneLoops, WhatIsNotRefusedHasNone) {
  unsigned routed = 0;
  unsigned refused_for_loops = 0;
  for (const auto& [text, engine] : {std::pair{"torus(5,5) hosts=25", "torus-2qos"},
                                     {"torus(3,3,3) hosts=27", "torus-2qos"},
                                     {"torus(6,6) hosts=36", "torus-2qos"},
                                     {"dragonfly(4,2,2,5) lmc=1", "dragonfly"},
                                     {"dragonfly-plus(2,2,2,2,5)", "dragonfly"}}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Fabric fabric = generate(text).value();
      random::Stream draw(seed);
      for (unsigned failure = 0; failure < 6; ++failure) {
        fail_something(fabric, seed % 2 == 0, draw);
        const auto tables = route(fabric, engine);
        routed += tables.ok() ? 1 : 0;
        if (tables.ok()) {
          EXPECT_TRUE(check_credit_loops(fabric, tables.value()).none_found()) << text << " seed " << seed;
        } else if (tables.status().message().find("credit loop") != std::string::npos ||
                   tables.status().message().find("wait in a circle") != std::string::npos) {
          ++refused_for_loops;
        }
      }
    }
  }
  EXPECT_GT(routed, 100U);
  EXPECT_GT(refused_for_loops, 0U);
}

}  // namespace
}  // namespace holdfast::fabric
