#include "fabric/check/lost_routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(LostRoutes, OneFailureIsExpectedExactly) {
  // the mean over every single link that can fail is what equation 5 gives
  const Fabric fabric = generate("kautz(2,3) hosts=30").value();
  const Forwarding tables = route(fabric, "minhop").value();
  const PathReport report = check_paths(fabric, tables);
  double sum = 0;
  unsigned links = 0;
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const Link& link = fabric.link(id);
    if (!fabric.is_switch(fabric.port(link.a).node) || !fabric.is_switch(fabric.port(link.b).node)) continue;
    Fabric degraded = fabric;
    degraded.set_link_up(id, false);
    sum += static_cast<double>(count_unrouted(degraded, tables));
    ++links;
  }
  EXPECT_NEAR(expected_lost_routes(fabric, tables, report, Failing::links, 1), sum / links, 1e-6);
}

TEST(LostRoutes, ASwitchTakesItsHostsWithIt) {
  const Fabric fabric = generate("tree(3,2)").value();  // 3 leaves of 3 hosts, 3 roots
  const Forwarding tables = route(fabric, "ftree").value();
  const std::vector<LostRoutes> lost = count_lost_routes(fabric, tables, Failing::switches, {1, 6}, 20);
  ASSERT_EQ(lost.size(), 2U);
  // a leaf cuts all pairs with its 3 hosts, 2 * 3 * 6 + 3 * 2; a root a third of those between leaves
  EXPECT_EQ(lost[0].max, 42U);
  EXPECT_EQ(lost[0].min, 18U);
  EXPECT_DOUBLE_EQ(lost[0].expected, (3 * 42.0 + 3 * 18.0) / 6);
  EXPECT_EQ(lost[1].min, 72U) << "all of them";
  EXPECT_NE(lost_routes_text(lost, Failing::switches).find("failed switches"), std::string::npos);
  EXPECT_EQ(lost_routes_json(lost)[1]["min"], 72);
}

TEST(LostRoutes, DependsOnSeedsAndNotOnThreads) {
  const Fabric fabric = generate("torus(4,4) hosts=32").value();
  const Forwarding tables = route(fabric, "sssp").value();
  const auto one = count_lost_routes(fabric, tables, Failing::links, {1, 4}, 30, 1, 1);
  const auto two = count_lost_routes(fabric, tables, Failing::links, {1, 4}, 30, 1, 3);
  const auto others = count_lost_routes(fabric, tables, Failing::links, {1, 4}, 30, 31, 1);
  EXPECT_EQ(one[1].mean, two[1].mean);
  EXPECT_NE(one[1].mean, others[1].mean);
  EXPECT_NEAR(one[1].mean, one[1].expected, one[1].expected / 4);
  EXPECT_LE(one[1].mean, one[1].expected * 1.05) << "a route that two failures cut is lost once";
}

}  // namespace
}  // namespace holdfast::fabric
