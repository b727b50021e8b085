#include "fabric/routing/engines/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random/stream.h"
#include "fabric/check/changes.h"
#include "fabric/check/credit_loops.h"
#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/check/paths.h"
#include "fabric/routing/graph/switch_graph.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

/// Takes down `count` links between switches, none of which cuts the network.
Fabric with_failed_links(Fabric fabric, unsigned count, std::uint64_t seed) {
  random::Stream draw = random::Stream(seed).child("failed links");
  for (unsigned tries = 0; count > 0 && tries < 1000; ++tries) {
    const auto link = static_cast<LinkId>(draw.below(fabric.links().size()));
    const Link& cable = fabric.link(link);
    if (!cable.up || !fabric.is_switch(fabric.port(cable.a).node) || !fabric.is_switch(fabric.port(cable.b).node))
      continue;
    fabric.set_link_up(link, false);
    std::vector<std::uint32_t> hops;
    SwitchGraph(fabric).distances_to(0, hops);
    if (std::find(hops.begin(), hops.end(), none) == hops.end()) {
      --count;
    } else {
      fabric.set_link_up(link, true);
    }
  }
  return fabric;
}

void fail_switch(Fabric& fabric, NodeId node) {
  for (std::uint32_t number = 1; number <= fabric.node(node).port_count; ++number) {
    const LinkId link = fabric.port(fabric.node(node).first_port + number).link;
    if (link != none) fabric.set_link_up(link, false);
  }
}

std::uint64_t shortest_hops(const Fabric& fabric) {
  const SwitchGraph graph(fabric);
  std::uint64_t sum = 0;
  std::vector<std::uint32_t> hops;
  for (std::uint32_t to = 0; to < graph.rows(); ++to) {
    graph.distances_to(to, hops);
    for (std::uint32_t from = 0; from < graph.rows(); ++from) {
      if (hops[from] != none) sum += std::uint64_t{hops[from]} * graph.sources_at(from) * graph.terminals_at(to).size();
    }
  }
  return sum;
}

/// Routes by every engine and holds each to its promises. Returns which engines accepted.
std::string hold_to_promises(const Fabric& fabric, bool small) {
  std::string accepted;
  for (const Engine& engine : engines()) {
    EngineOptions options;
    options.lanes = 15;
    const auto routed = route(fabric, engine.name, options);
    if (!routed.ok()) {
      EXPECT_FALSE(routed.status().remedy().empty());
      const bool lanes = routed.status().wrong().find("virtual lanes") != std::string::npos;
      EXPECT_TRUE(!engine.any_fabric || (lanes && engine.deadlock_free)) << routed.status().message();
      continue;
    }
    accepted += std::string(engine.name) + " ";
    const Forwarding& tables = routed.value();
    const PathReport paths = check_paths(fabric, tables);
    EXPECT_EQ(paths.lost_pairs(), 0U) << engine.name;
    EXPECT_EQ(paths.switches_lost, 0U) << engine.name;
    std::uint64_t hops = 0;
    for (std::size_t i = 0; i < paths.hops.size(); ++i) hops += i * paths.hops[i];
    if (engine.minimal) {
      EXPECT_EQ(hops, shortest_hops(fabric)) << engine.name;
    }
    const CreditLoopReport loops = check_credit_loops(fabric, tables);
    if (engine.deadlock_free && !loops.none_found()) {
      ADD_FAILURE() << engine.name << ": " << describe(fabric, loops.loops.front());
    }
    EXPECT_LE(loops.lanes, tables.lanes_used) << engine.name;
    if (!small) continue;
    const naive::Verdict verdict = naive::judge(fabric, tables);
    EXPECT_EQ(verdict.deadlock_free, loops.none_found()) << engine.name;
    EXPECT_EQ(verdict.routed, paths.routed) << engine.name;
  }
  return accepted;
}

constexpr const char* all_but_regular = "minhop updn dnup dor lash sssp dfsssp nue lnmp ";

TEST(Engines, KeepTheirPromisesOnSmallFabrics) {
  EXPECT_EQ(hold_to_promises(generate("mesh(3,3) hosts=18").value(), true),
            "minhop updn dnup dor lash sssp dfsssp torus-2qos nue lnmp ");
  EXPECT_EQ(hold_to_promises(generate("torus(5,4) links=2 hosts=40").value(), true),
            "minhop updn dnup dor lash sssp dfsssp torus-2qos nue lnmp ");
  EXPECT_EQ(hold_to_promises(generate("torus(3,3,3) links=2 hosts=27").value(), true),
            "minhop updn dnup dor lash sssp dfsssp torus-2qos nue lnmp ");
  EXPECT_EQ(hold_to_promises(generate("tree(3,3)").value(), true),
            "minhop updn dnup dor ftree dmodc lash sssp dfsssp nue lnmp ");
  EXPECT_EQ(hold_to_promises(generate("xgft(2;3,4;1,3)").value(), true),
            "minhop updn dnup dor ftree dmodc lash sssp dfsssp nue lnmp ");
  EXPECT_EQ(hold_to_promises(generate("kautz(2,3) hosts=24").value(), true), all_but_regular);
  EXPECT_EQ(hold_to_promises(generate("dragonfly(4,2,2,5)").value(), true),
            std::string(all_but_regular) + "dragonfly ");
  EXPECT_EQ(hold_to_promises(generate("random(16,3) hosts=32 ports=8").value(), true), all_but_regular);
}

TEST(Engines, KeepTheirPromisesOnDamagedFabrics) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const char* text : {"torus(5,5) hosts=25", "tree(3,3)", "kautz(3,2) hosts=24", "dragonfly(4,2,2,5)",
                             "random(14,4) hosts=28 ports=8", "mesh(4,4) hosts=16", "hyperx(3,3) hosts=18"}) {
      SCOPED_TRACE(std::string(text) + ", seed " + std::to_string(seed));
      hold_to_promises(with_failed_links(generate(text).value(), static_cast<unsigned>(2 * seed), seed), true);
    }
  }
}

TEST(Engines, KeepTheirPromisesOnLargerFabrics) {
  for (const char* text : {"tsubame2-rail", "deimos-cluster", "dragonfly-10-5-5-4", "kautz-2-4", "random-32"}) {
    SCOPED_TRACE(text);
    hold_to_promises(generate(text).value(), false);
    hold_to_promises(with_failed_links(generate(text).value(), 12, 3), false);
  }
}

TEST(Engines, RouteEveryPartOfACutNetwork) {
  Fabric fabric = generate("mesh(4) hosts=8").value();
  for (LinkId link = 0; link < fabric.links().size(); ++link) {
    const NodeId a = fabric.port(fabric.link(link).a).node;
    const NodeId b = fabric.port(fabric.link(link).b).node;
    if (std::min(a, b) == 1 && std::max(a, b) == 2) fabric.set_link_up(link, false);
  }
  for (const Engine& engine : engines()) {
    const auto tables = route(fabric, engine.name);
    if (!tables.ok()) continue;
    const PathReport report = check_paths(fabric, tables.value());
    EXPECT_EQ(report.lost_pairs(), 0U) << engine.name;
    EXPECT_EQ(report.disconnected, 2U * 4 * 4) << engine.name;
  }
}

TEST(Engines, DoNotDependOnThreads) {
  const Fabric fabric = generate("dragonfly-10-5-5-4").value();
  for (const Engine& engine : engines()) {
    EngineOptions options;
    options.lanes = 15;
    options.threads = 1;
    const auto one = route(fabric, engine.name, options);
    options.threads = 3;
    const auto three = route(fabric, engine.name, options);
    ASSERT_EQ(one.ok(), three.ok()) << engine.name;
    if (!one.ok()) continue;
    const Changes changes = compare_tables(fabric, one.value(), three.value());
    EXPECT_EQ(changes.changed + changes.levels, 0U) << engine.name;
  }
}

TEST(Engines, SpreadTheLidsOfOnePort) {
  Fabric fabric = generate("xgft(2;2,2;1,4)").value();
  Lid next = 100;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (fabric.is_switch(node)) continue;
    Port& port = fabric.mutable_port(fabric.port_of(node, 1));
    port.lid = next;
    port.lmc = 2;
    next += 4;
  }
  for (const Engine& engine : engines()) {
    const auto tables = route(fabric, engine.name);
    if (!tables.ok() || engine.name == "dor" || engine.name == "lash") continue;  // one way a switch pair
    std::set<std::uint8_t> ports;
    const std::uint32_t leaf = 0;  // host 0 is elsewhere seen from the other leaf
    for (Lid lid = next - 4; lid < next; ++lid) ports.insert(tables.value().out_port(leaf, lid));
    EXPECT_EQ(ports.size(), 4U) << engine.name;
    EXPECT_TRUE(check_paths(fabric, tables.value()).complete()) << engine.name;
  }
}

TEST(Engines, UseParallelLinksEvenly) {
  const Fabric fabric = generate("mesh(2) links=4 hosts=16").value();
  for (const Engine& engine : engines()) {
    const auto tables = route(fabric, engine.name);
    if (!tables.ok()) continue;
    const PathReport report = check_paths(fabric, tables.value());
    EXPECT_EQ(report.index.min, 16U) << engine.name;
    EXPECT_EQ(report.index.max, 16U) << engine.name;
  }
}

TEST(Engines, RefuseWithAReason) {
  const Fabric torus = generate("torus(5,5) hosts=25").value();
  EXPECT_EQ(route(torus, "ftre").status().message(),
            "choosing a routing engine: there is no engine 'ftre': did you mean 'ftree'?");
  const std::string no_tree = route(torus, "ftree").status().wrong();
  EXPECT_EQ(no_tree.find("the fabric is not a fat tree: a link joins s-"), 0U) << no_tree;
  EXPECT_NE(no_tree.find(", which are on the same level"), std::string::npos) << no_tree;
  EXPECT_EQ(route(generate("kautz(2,3) hosts=24").value(), "torus-2qos").status().wrong(),
            "the fabric is not a mesh or torus");
  EngineOptions one_lane;
  one_lane.lanes = 1;
  EXPECT_EQ(route(torus, "torus-2qos", one_lane).status().wrong(), "needs 2 virtual lanes, 1 are there");
  EXPECT_NE(route(torus, "lash", one_lane).status().wrong().find("virtual lanes, 1 are there"), std::string::npos);
  EXPECT_NE(route(torus, "dfsssp", one_lane).status().wrong().find("virtual lanes, 1 are there"), std::string::npos);
  EXPECT_TRUE(route(torus, "nue", one_lane).ok());
  one_lane.lanes = 16;
  EXPECT_FALSE(route(torus, "nue", one_lane).ok());
  one_lane.lanes = 1;
  one_lane.roots = {30};  // a host
  EXPECT_FALSE(route(torus, "updn", one_lane).ok());
  EXPECT_FALSE(route(Fabric(), "minhop").ok());
  Fabric unnamed;
  unnamed.add_node(NodeKind::switch_, 3, "alone");
  EXPECT_EQ(route(unnamed, "minhop").status().wrong(), "no port has a LID");
}

TEST(Nue, KeepsToAnyNumberOfLanes) {
  const Fabric fabric = with_failed_links(generate("torus(4,5) hosts=20").value(), 4, 9);
  for (unsigned lanes = 1; lanes <= 8; ++lanes) {
    EngineOptions options;
    options.lanes = lanes;
    const Forwarding tables = route(fabric, "nue", options).value();
    EXPECT_LE(tables.lanes_used, lanes);
    EXPECT_TRUE(check_paths(fabric, tables).complete());
    EXPECT_TRUE(check_credit_loops(fabric, tables).none_found()) << lanes << " lanes";
  }
}

// 92 is the least that OpenSM 3.3.23's updn has on 50 renumberings (median 104).
TEST(Updn, IsNoFullerThanOpensmsOnAHyperX) {
  const Fabric listed = generate("hyperx(4,4) hosts=64").value();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Fabric fabric = renumber(listed, draw_renumbering(listed, seed));
    EXPECT_LE(check_paths(fabric, route(fabric, "updn").value()).index.max, 92U) << "numbers " << seed;
  }
}

TEST(Nue, IsNoFullerThanUpdnAndFtreeOnTreesInAnyNumberOfLanes) {
  for (const char* text : {"tree(8,2)", "xgft(2;9,9;1,4)", "tree(5,3)", "xgft(3;4,3,5;1,3,2)", "xgft-1-22-11"}) {
    const Fabric whole = generate(text).value();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Fabric damaged = with_failed_links(whole, 2 * (static_cast<unsigned>(seed) - 1), seed);
      const Fabric fabric = renumber(damaged, draw_renumbering(damaged, seed));
      std::uint64_t least = check_paths(fabric, route(fabric, "updn").value()).index.max;
      if (const auto of_ftree = route(fabric, "ftree"); of_ftree.ok())
        least = std::min(least, check_paths(fabric, of_ftree.value()).index.max);
      for (unsigned lanes = 1; lanes <= 8; lanes += lanes) {
        EngineOptions options;
        options.lanes = lanes;
        const Forwarding tables = route(fabric, "nue", options).value();
        const PathReport paths = check_paths(fabric, tables);
        EXPECT_LE(paths.index.max, least) << text << ", numbers " << seed << ", " << lanes << " lanes";
        EXPECT_TRUE(paths.complete());
        EXPECT_TRUE(check_credit_loops(fabric, tables).none_found()) << text << ", " << lanes << " lanes";
        EXPECT_EQ(tables.lanes_used, lanes);
      }
    }
  }
}

TEST(Ftree, GivesEveryChannelOneDestinationDownInACompleteTree) {
  // D-mod-K: shift permutations meet no contention, as each channel leads down to one leaf port's share of hosts
  const Fabric fabric = generate("tree(4,3)").value();
  const Forwarding tables = route(fabric, "ftree").value();
  const std::uint32_t hosts = fabric.adapter_count();
  const NodeId first_host = fabric.switch_count();
  for (std::uint32_t shift = 1; shift < hosts; ++shift) {
    std::map<PortId, unsigned> busy;
    for (std::uint32_t i = 0; i < hosts; ++i) {
      const PortId from = fabric.port_of(first_host + i, 1);
      const PortId to = fabric.port_of(first_host + (i + shift) % hosts, 1);
      for (const auto& [port, lane] : naive::walk(fabric, tables, from, fabric.port(to).lid, to).buffers) {
        EXPECT_EQ(++busy[port], 1U) << "shift " << shift;
      }
    }
  }
}

TEST(Torus2Qos, SurvivesAFailedSwitchAndOneBrokenLinkARingWithTheSameLevels) {
  for (const char* text : {"torus(5,6) hosts=30", "torus(4,5,5) hosts=100", "mesh(4,5) hosts=20"}) {
    const Fabric whole = generate(text).value();
    const Forwarding before = route(whole, "torus-2qos").value();
    for (NodeId failed = 0; failed < whole.switch_count(); failed += 7) {
      const bool on_edge = std::string_view(text).starts_with("mesh");
      Fabric fabric = whole;
      fail_switch(fabric, failed);
      const auto after = route(fabric, "torus-2qos");
      if (!after.ok()) {
        EXPECT_TRUE(on_edge) << text << ": " << after.status().message();
        continue;
      }
      const PathReport report = check_paths(fabric, after.value());
      EXPECT_EQ(report.lost_pairs() + report.disconnected, 0U);
      EXPECT_TRUE(check_credit_loops(fabric, after.value()).none_found());
      if (std::string_view(text) == "torus(5,6) hosts=30") {  // small enough
        EXPECT_TRUE(naive::judge(fabric, after.value()).deadlock_free);
      }
      const Changes changes = compare_tables(whole, before, after.value());
      EXPECT_LE(changes.levels, 2U * whole.adapter_count()) << "only those of the failed switch";
    }
    if (std::string_view(text).starts_with("mesh")) continue;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Fabric fabric = with_failed_links(whole, 1, seed);
      const Forwarding after = route(fabric, "torus-2qos").value();
      EXPECT_TRUE(check_paths(fabric, after).complete());
      EXPECT_TRUE(check_credit_loops(fabric, after).none_found());
      EXPECT_EQ(compare_tables(whole, before, after).levels, 0U);
    }
  }
}

// Found in the cables, a ring of four is two dimensions of two, which no failed link leaves routable.
TEST(Torus2Qos, GoesRoundARingOfFourThatLostALink) {
  for (const char* text : {"torus(4,4,4) hosts=64", "torus(4,5) hosts=20", "torus(4,4) hosts=16"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Fabric fabric = with_failed_links(generate(text).value(), 1, seed);
      fabric.set_structure({});
      const auto routed = route(fabric, "torus-2qos");
      ASSERT_TRUE(routed.ok()) << text << ", seed " << seed << ": " << routed.status().message();
      EXPECT_TRUE(check_paths(fabric, routed.value()).complete()) << text << ", seed " << seed;
      EXPECT_TRUE(check_credit_loops(fabric, routed.value()).none_found()) << text << ", seed " << seed;
    }
  }
}

TEST(Torus2Qos, RefusesARingInTwoPieces) {
  Fabric fabric = generate("torus(6,6) hosts=36").value();
  unsigned cut = 0;
  for (LinkId link = 0; link < fabric.links().size(); ++link) {
    const NodeId a = fabric.port(fabric.link(link).a).node;
    const NodeId b = fabric.port(fabric.link(link).b).node;
    if (!fabric.is_switch(a) || !fabric.is_switch(b)) continue;
    const auto at = fabric.structure().at(a);
    const auto to = fabric.structure().at(b);
    if (at[1] != 0 || to[1] != 0 || (at[0] + to[0] != 1 && at[0] + to[0] != 7)) continue;  // 0-1 and 3-4 of row 0
    fabric.set_link_up(link, false);
    ++cut;
  }
  ASSERT_EQ(cut, 2U);
  const auto routed = route(fabric, "torus-2qos");
  ASSERT_FALSE(routed.ok());
  EXPECT_NE(routed.status().wrong().find("too much has failed"), std::string::npos) << routed.status().message();
}

// A mesh is a torus with every ring broken once. OpenSM 3.3.23 refuses these, too, or leaves pairs without a route.
TEST(Torus2Qos, RefusesAMeshWithoutOneOfItsCables) {
  const Fabric whole = generate("mesh(4,5) hosts=20").value();
  unsigned tried = 0;
  for (LinkId link = 0; link < whole.links().size(); ++link) {
    const PortId a = whole.link(link).a;
    const PortId b = whole.link(link).b;
    if (!whole.is_switch(whole.port(a).node) || !whole.is_switch(whole.port(b).node)) continue;
    Fabric fabric = whole;
    fabric.set_link_up(link, false);
    EXPECT_FALSE(route(fabric, "torus-2qos").ok()) << "without link " << link;
    EXPECT_TRUE(check_paths(fabric, route(fabric, "updn").value()).complete());
    ++tried;
  }
  EXPECT_EQ(tried, 31U);
}

TEST(Torus2Qos, FindsTheTorusInTheCables) {
  for (const char* text :
       {"torus(5,6) hosts=30", "torus(3,3,3) hosts=27", "mesh(3,4,5) hosts=60", "torus(4,4) hosts=16"}) {
    Fabric fabric = generate(text).value();
    const Forwarding told = route(fabric, "torus-2qos").value();
    fabric.set_structure({});
    const auto found = route(fabric, "torus-2qos");
    ASSERT_TRUE(found.ok()) << text << ": " << found.status().message();
    const PathReport report = check_paths(fabric, found.value());
    EXPECT_TRUE(report.complete());
    EXPECT_TRUE(check_credit_loops(fabric, found.value()).none_found());
    EXPECT_DOUBLE_EQ(report.mean_hops(), check_paths(fabric, told).mean_hops()) << text;
  }
}

/// A switch without adapters is no reason to go by levels where cables lie within them.
TEST(Route, UpAndDownLooksForAnOrderWhereLevelsSayNothing) {
  const Fabric drawn = generate("xpander(16,4) hosts=32").value();
  for (const std::uint64_t seed : {1U, 2U}) {
    const Fabric fabric = renumber(drawn, draw_renumbering(drawn, seed));
    for (const char* engine : {"updn", "dnup"}) {
      const Forwarding tables = route(fabric, engine).value();
      EXPECT_LT(check_paths(fabric, tables).index.max, 8U) << "OpenSM's updn has 8 or 9";
      EXPECT_EQ(check_paths(fabric, tables).lost_pairs(), 0U);
      EXPECT_TRUE(check_credit_loops(fabric, tables).none_found());
    }
  }
}

/// OpenSM 3.3.23's sssp has 4,839 to 4,903 on ten renumberings of it.
TEST(Route, DeimosIsNoFullerThanByOpensm) {
  const Fabric fabric = generate("deimos").value();
  for (const std::uint64_t seed : {1, 2}) {
    const Fabric other = renumber(fabric, draw_renumbering(fabric, seed));
    EXPECT_LT(check_paths(other, route(other, "sssp").value()).index.max, 4839U);
  }
}

/// Shared choices of destinations that follow one another are those of each alone: by any number of threads, with
/// groups of which some leaves have other cables out, and where a destination's way to the doors of its group differs.
TEST(Route, DragonflyTablesAreTheSameByAnyNumberOfThreads) {
  for (const char* text : {"dragonfly-plus(6,5,8,3,9)", "dragonfly(4,2,2,9)", "dragonfly-plus(4,4,4,4,5)"}) {
    Fabric fabric = generate(text).value();
    for (const bool damaged : {false, true}) {
      if (damaged) fabric = with_failed_links(fabric, 3, 5);
      EngineOptions options;
      options.threads = 1;
      const auto alone = route(fabric, "dragonfly", options);
      options.threads = 3;
      const auto shared = route(fabric, "dragonfly", options);
      ASSERT_EQ(alone.ok(), shared.ok());
      if (!alone.ok()) continue;
      EXPECT_EQ(check_paths(fabric, alone.value()).lost_pairs(), 0U);
      for (std::uint32_t row = 0; row < alone.value().rows(); ++row)
        EXPECT_TRUE(std::equal(alone.value().table(row), alone.value().table(row) + alone.value().lids(),
                               shared.value().table(row)))
            << text << " row " << row;
    }
  }
}

}  // namespace
}  // namespace holdfast::fabric
