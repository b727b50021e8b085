#include "fabric/routing/engines/turns.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "core/random/stream.h"

#include "fabric/check/changes.h"
#include "fabric/check/credit_loops.h"
#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

std::uint64_t fullest_link(const Fabric& fabric, std::string_view engine) {
  const auto tables = route(fabric, engine);
  if (!tables.ok()) return 0;
  const PathReport report = check_paths(fabric, tables.value());
  EXPECT_TRUE(report.complete()) << engine;
  return report.index.max;
}

TEST(Turns, DividersAreTheWaysUpBelow) {
  const Fabric fabric = generate("xgft(3;12,3,4;1,5,7)").value();
  const SwitchGraph graph(fabric);
  const std::vector<std::uint32_t> level = levels_above_adapters(graph);
  const Turns turns(graph, level);
  for (std::uint32_t row = 0; row < graph.rows(); ++row)
    EXPECT_EQ(turns.divider(row), level[row] == 0 ? 1U : level[row] == 1 ? 5U : 35U);
}

// In a complete k-ary n-tree every channel up or down carries what k^n hosts send to their share: the least possible.
TEST(Turns, CompleteTreesAreAsEvenAsCanBeUnderAnyNumbers) {
  for (const auto& [text, least] : {std::pair{"tree(4,3)", 60U}, {"tree(6,3)", 210U}, {"tree(3,4)", 78U}}) {
    const Fabric listed = generate(text).value();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Fabric fabric = renumber(listed, draw_renumbering(listed, seed));
      for (const char* engine : {"minhop", "updn", "dnup", "sssp", "dfsssp", "dmodc", "nue"})
        EXPECT_EQ(fullest_link(fabric, engine), least) << engine << " on " << text << ", numbers " << seed;
    }
  }
}

TEST(Turns, TablesDoNotDependOnThreads) {
  for (const char* text : {"tree(4,3)", "xgft(3;5,3,4;1,3,2)"}) {
    Fabric fabric = generate(text).value();
    for (const bool damaged : {false, true}) {
      if (damaged) fabric.set_link_up(3, false);
      for (const char* engine : {"updn", "ftree", "sssp", "dfsssp", "dmodc"}) {
        EngineOptions options;
        options.threads = 1;
        const Forwarding alone = route(fabric, engine, options).value();
        options.threads = 5;
        const Changes changes = compare_tables(fabric, alone, route(fabric, engine, options).value());
        EXPECT_EQ(changes.changed, 0U) << engine << " on " << text;
        EXPECT_EQ(changes.levels, 0U) << engine << " on " << text;
      }
    }
  }
}

// Hosts in the order of the canonical leaves, which is that of dmodc's numbers: any that keeps leaves together and pods
// together will do, as the generator's does.
TEST(Turns, ShiftsMeetNoContentionInACompleteTree) {
  const Fabric fabric = generate("tree(3,3)").value();
  const std::uint32_t hosts = fabric.adapter_count();
  for (const char* engine : {"ftree", "dmodc"}) {
    const Forwarding tables = route(fabric, engine).value();
    for (std::uint32_t shift = 1; shift < hosts; ++shift) {
      std::map<PortId, unsigned> busy;
      for (std::uint32_t i = 0; i < hosts; ++i) {
        const PortId from = fabric.port_of(fabric.switch_count() + i, 1);
        const PortId to = fabric.port_of(fabric.switch_count() + (i + shift) % hosts, 1);
        for (const auto& [port, lane] : naive::walk(fabric, tables, from, fabric.port(to).lid, to).buffers)
          EXPECT_EQ(++busy[port], 1U) << engine << ", shift " << shift;
      }
    }
  }
}

// Leaves of more adapters than the 64 that are looked at together, several LIDs each, and parallel cables.
TEST(Ftree, LeavesMayHaveManyAdapters) {
  for (const char* text :
       {"xgft(2;100,3;1,4) ports=110", "rails(2,40,2,3) links=3 lmc=1", "xgft(3;70,2,2;1,3,3) ports=80"}) {
    const Fabric fabric = generate(text).value();
    const Forwarding tables = route(fabric, "ftree").value();
    const naive::Verdict verdict = naive::judge(fabric, tables);
    EXPECT_TRUE(verdict.deadlock_free) << text;
    const PathReport report = check_paths(fabric, tables);
    EXPECT_TRUE(report.complete()) << text;
    EXPECT_EQ(verdict.routed, report.routed) << text;
  }
}

// Machines whose leaves and racks have several cables to each director, so that switches have several ways down. What
// ftree had on them when dmodc came to count more digits; OpenSM 3.3.23's has up to 6,672 on TSUBAME2.0.
TEST(Dmodc, IsEvenWhereThereAreSeveralWaysDown) {
  for (const auto& [text, most] : {std::pair{"abci-1", 9'928U}, {"tsubame2-rail", 6'672U}}) {
    const Fabric listed = generate(text).value();
    for (std::uint64_t seed = 0; seed <= 3; ++seed) {
      const Fabric fabric = seed == 0 ? listed : renumber(listed, draw_renumbering(listed, seed));
      EXPECT_LE(fullest_link(fabric, "dmodc"), most) << text << ", numbers " << seed;
    }
  }
}

TEST(Dmodc, GivesParallelCablesTheirTurns) {
  const Fabric fabric = generate("rails(2,8,2,2) links=4").value();
  const PathReport report = check_paths(fabric, route(fabric, "dmodc").value());
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.index.min, report.index.max);
}

/// Takes links down at random, also such as cut leaves off each other.
Fabric struck(Fabric fabric, std::uint64_t share_percent, std::uint64_t seed) {
  random::Stream draw = random::Stream(seed).child("struck");
  for (LinkId link = 0; link < fabric.links().size(); ++link) {
    const bool hosts = !fabric.is_switch(fabric.port(fabric.link(link).a).node) ||
                       !fabric.is_switch(fabric.port(fabric.link(link).b).node);
    if (!hosts && draw.chance(share_percent, 100)) fabric.set_link_up(link, false);
  }
  return fabric;
}

TEST(Dmodc, RoutesWhatUpAndDownJoinsAndRefusesTheRestUnderAnyDamage) {
  unsigned routed = 0;
  unsigned refused = 0;
  for (const char* text : {"tree(3,3)", "xgft(3;2,3,4;1,2,3)", "rails(2,3,3,3;2,3)", "tree(4,2)", "tree(2,4)"}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Fabric fabric = struck(generate(text).value(), 1 + seed % 45, seed);
      const auto tables = route(fabric, "dmodc");
      if (!tables.ok()) {
        ++refused;
        EXPECT_EQ(tables.status().code(), Code::bad_input);
        continue;
      }
      ++routed;
      const naive::Verdict verdict = naive::judge(fabric, tables.value());
      EXPECT_TRUE(verdict.deadlock_free) << text << ", seed " << seed;
      EXPECT_TRUE(check_credit_loops(fabric, tables.value()).none_found()) << text << ", seed " << seed;
      EXPECT_EQ(check_paths(fabric, tables.value()).lost_pairs(), 0U) << text << ", seed " << seed;
    }
  }
  EXPECT_GT(routed, 60U);
  EXPECT_GT(refused, 20U) << "the damage is never so bad that nothing is refused: draw more";
}

TEST(Dmodc, RefusesInItsOwnName) {
  EXPECT_EQ(route(generate("torus(5,5) hosts=25").value(), "dmodc")
                .status()
                .message()
                .find("routing with dmodc: the fabric is not a fat tree: a link joins s-"),
            0U);
}

}  // namespace
}  // namespace holdfast::fabric
