#include "fabric/routing/graph/canonical_order.h"

#include <gtest/gtest.h>

#include <set>

#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/routing/engines/reroute.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// The cables under the canonical order: equal for two fabrics only if it makes them the same.
std::multiset<std::pair<std::uint32_t, std::uint32_t>> cables_by_place(const Fabric& fabric) {
  const SwitchGraph graph(fabric);
  const std::vector<std::uint32_t> rows = canonical_rows(graph);
  std::vector<std::uint32_t> place(graph.rows());
  for (std::uint32_t at = 0; at < rows.size(); ++at) place[rows[at]] = at;
  std::multiset<std::pair<std::uint32_t, std::uint32_t>> cables;
  for (const SwitchGraph::Arc& arc : graph.arcs()) cables.emplace(place[arc.from], place[arc.to]);
  return cables;
}

TEST(CanonicalOrder, IsTheSameUnderAllNumbers) {
  for (const char* text : {"tree(4,3)", "xgft(2;6,6;1,3)", "torus(4,4) hosts=32", "kautz(2,3) hosts=24",
                           "dragonfly(4,2,2,5)", "random(16,3) hosts=32 ports=8", "slimfly(5) hosts=100"}) {
    for (const bool damaged : {false, true}) {
      SCOPED_TRACE(std::string(text) + (damaged ? ", a link down" : ""));
      Fabric fabric = generate(text).value();
      for (LinkId link = 0; damaged && link < fabric.links().size(); ++link) {
        if (!fabric.is_switch(fabric.port(fabric.link(link).a).node)) continue;
        if (!fabric.is_switch(fabric.port(fabric.link(link).b).node)) continue;
        fabric.set_link_up(link, false);
        break;
      }
      const auto cables = cables_by_place(fabric);
      for (std::uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_EQ(cables_by_place(renumber(fabric, draw_renumbering(fabric, seed))), cables) << "seed " << seed;
    }
  }
}

/// Directors have many chips that are wired alike, and edge switches below them no two of which are.
TEST(CanonicalOrder, ChipsOfDirectorsTakeNoTimeFromTheRest) {
  const Fabric fabric = generate("tsubame2-rail").value();
  const auto cables = cables_by_place(fabric);
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    EXPECT_EQ(cables_by_place(renumber(fabric, draw_renumbering(fabric, seed))), cables) << "seed " << seed;
}

/// Too many switches to try each, of two kinds that partitions do not tell apart: some have two cables to one
/// neighbour.
TEST(CanonicalOrder, BeginsWithTheFewestNeighboursWhereAllAreTooManyToTry) {
  for (const char* text : {"kautz(7,3)", "kautz(5,4)"}) {
    const Fabric fabric = generate(text).value();
    const auto cables = cables_by_place(fabric);
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
      EXPECT_EQ(cables_by_place(renumber(fabric, draw_renumbering(fabric, seed))), cables) << text << " seed " << seed;
  }
}

/// Issue: ports of a real cluster are numbered as cables were at hand.
TEST(CanonicalOrder, BalanceDoesNotDependOnNumbers) {
  for (const char* text : {"tree(8,2)", "16-ary-2-tree", "xgft(2;18,18;1,9)", "tree(4,3)", "torus(5,5) hosts=50",
                           "kautz-2-4", "dragonfly(4,2,2,5)", "random(16,4) hosts=32 ports=6"}) {
    const Fabric fabric = generate(text).value();
    for (const Engine& engine : engines()) {
      if (engine.name == "dor" || engine.name == "torus-2qos") continue;
      const auto routed = route(fabric, engine.name);
      if (!routed.ok()) continue;
      const std::uint64_t fullest = check_paths(fabric, routed.value()).index.max;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Fabric other = renumber(fabric, draw_renumbering(fabric, seed));
        const auto again = route(other, engine.name);
        ASSERT_TRUE(again.ok()) << engine.name << ": " << again.status().message();
        const PathReport paths = check_paths(other, again.value());
        EXPECT_EQ(paths.lost_pairs(), 0U) << text << " " << engine.name;
        EXPECT_LE(paths.index.max, fullest + fullest / 50) << text << " " << engine.name << " seed " << seed;
        EXPECT_GE(paths.index.max + paths.index.max / 50, fullest) << text << " " << engine.name << " seed " << seed;
      }
    }
  }
}

/// What no tables can better: every channel of a whole two-level tree carries the same.
TEST(CanonicalOrder, WholeTreesAreEvenUnderAllNumbers) {
  const struct {
    const char* text;
    std::uint64_t least;
  } rows[] = {{"tree(8,2)", 56}, {"16-ary-2-tree", 240}, {"xgft(2;18,18;1,9)", 612}};
  for (const auto& row : rows) {
    const Fabric fabric = generate(row.text).value();
    for (const char* engine : {"minhop", "updn", "dnup", "sssp", "dfsssp", "ftree", "nue"}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Fabric other = renumber(fabric, draw_renumbering(fabric, seed));
        EXPECT_EQ(check_paths(other, route(other, engine).value()).index.max, row.least)
            << row.text << " " << engine << " seed " << seed;
      }
    }
  }
}

/// One of k ways up from a leaf is gone. What the fullest link carries then under the best of OpenSM 3.3.23's engines
/// (minhop, updn, dfsssp, sssp), measured on the same fabrics; k * k is what no tables can better.
TEST(CanonicalOrder, AFailedLinkOfATreeCostsLittle) {
  const struct {
    std::uint32_t k;
    std::uint64_t of_opensm;
  } rows[] = {{4, 20}, {6, 54}, {8, 104}, {10, 170}, {12, 252}, {14, 350}, {16, 464}, {18, 594}};
  for (const auto& row : rows) {
    Fabric fabric = generate("tree(" + std::to_string(row.k) + ",2)").value();
    const Fabric whole = fabric;
    fabric.set_link_up(fabric.port(fabric.port_of(0, static_cast<std::uint8_t>(row.k + 1))).link, false);
    for (const char* engine : {"minhop", "updn", "dnup", "ftree", "sssp", "dfsssp", "nue"}) {
      SCOPED_TRACE(std::string(engine) + ", " + std::to_string(row.k) + " ways up");
      const std::uint64_t anew = check_paths(fabric, route(fabric, engine).value()).index.max;
      EXPECT_LE(anew, row.of_opensm);
      const Forwarding mended = reroute(fabric, route(whole, engine).value(), engine).value().tables;
      EXPECT_LE(anew, check_paths(fabric, mended).index.max) << "mending is more even than routing anew";
      EXPECT_EQ(anew, row.k * row.k);
    }
  }
}

}  // namespace
}  // namespace holdfast::fabric
