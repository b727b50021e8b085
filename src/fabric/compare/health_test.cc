#include "fabric/compare/health.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

LinkId link_between(const Fabric& fabric, NodeId a, NodeId b) {
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const NodeId one = fabric.port(fabric.link(id).a).node;
    const NodeId other = fabric.port(fabric.link(id).b).node;
    if (std::minmax(one, other) == std::minmax(a, b)) return id;
  }
  return none;
}

TEST(Health, OfAWholeFabricIsGood) {
  const Fabric fabric = generate("torus(4,4) hosts=32").value();
  const Forwarding tables = route(fabric, "updn").value();
  HealthOptions options;
  options.tables = &tables;
  options.engines = {"ftree", "minhop", "dfsssp"};
  const Health health = examine(fabric, options);
  EXPECT_TRUE(health.good());
  EXPECT_EQ(health.hosts, 32U);
  EXPECT_EQ(health.switches, 16U);
  EXPECT_EQ(health.links, 32U);
  ASSERT_EQ(health.outlook.size(), 3U);
  EXPECT_FALSE(health.outlook[0].routed());
  EXPECT_FALSE(health.outlook[1].good()) << "shortest paths on a torus have credit loops";
  EXPECT_TRUE(health.outlook[2].good());
  const std::string text = health_text(health);
  EXPECT_TRUE(contains(text, "The fabric is in order."));
  EXPECT_TRUE(contains(text, "ftree       the fabric is not a fat tree"));
  EXPECT_TRUE(contains(text, "minhop      credit loops"));
  const nlohmann::ordered_json json = health_record(health);
  EXPECT_EQ(json["record"], "holdfast.fabric.check");
  EXPECT_EQ(json["good"], true);
  EXPECT_EQ(json["engines"].size(), 3U);
  EXPECT_EQ(json["tables"]["lost_pairs"], 0);
}

TEST(Health, ALidOnTwoPortsIsAFindingWhateverTheTablesDo) {
  for (const bool switches : {true, false}) {
    Fabric fabric = generate("tree(2,2)").value();
    const NodeId first = switches ? 0 : fabric.switch_count();
    const std::uint8_t number = switches ? 0 : 1;
    const Lid lid = fabric.port(fabric.port_of(first, number)).lid;
    fabric.mutable_port(fabric.port_of(first + 1, number)).lid = lid;
    const Forwarding tables = route(fabric, "updn").value();
    HealthOptions options;
    options.tables = &tables;
    const Health health = examine(fabric, options);
    EXPECT_FALSE(health.good());
    ASSERT_EQ(health.shared_lids.size(), 1U);
    EXPECT_TRUE(contains(health.shared_lids[0], "LID " + std::to_string(lid) + " is that of "))
        << health.shared_lids[0];
    EXPECT_TRUE(contains(health_text(health), "needs attention"));
    EXPECT_TRUE(contains(health_text(health), "LIDs that two ports have"));
  }
}

TEST(Health, NamesWhatIsBroken) {
  const Fabric healthy = generate("mesh(3,3) hosts=9").value();
  const Forwarding tables = route(healthy, "updn").value();
  Fabric fabric = healthy;
  fabric.set_link_up(link_between(fabric, 4, 7), false);
  const LinkId slow = link_between(fabric, 4, 5);
  fabric.mutable_link(slow).rate = {1, LaneSpeed::sdr};
  fabric.set_link_up(fabric.port(fabric.port_of(9, 1)).link, false);  // the first host
  HealthOptions options;
  options.tables = &tables;
  options.healthy = &healthy;
  const Health health = examine(fabric, options);
  EXPECT_FALSE(health.good());
  EXPECT_EQ(health.hosts_cut_off, 1U);
  EXPECT_EQ(health.links_down, 1U);
  EXPECT_EQ(health.missing.size(), 2U);
  ASSERT_EQ(health.slow_links.size(), 1U);
  EXPECT_TRUE(contains(health.slow_links[0], "came up as 1xSDR, its ports can do 4xQDR")) << health.slow_links[0];
  EXPECT_FALSE(health.tables->good());
  EXPECT_GT(health.tables->lost, 0U);
  const std::string text = health_text(health);
  EXPECT_TRUE(contains(text, "The fabric needs attention."));
  EXPECT_TRUE(contains(text, "Today's tables: lost pairs"));
  EXPECT_TRUE(contains(text, "dropped at"));
}

WhatIfOptions by_engine(const std::string& engine) {
  WhatIfOptions options;
  options.engine = engine;
  return options;
}

TEST(WhatIf, TellsLinksThatMayGoFromThoseThatMustStay) {
  const Fabric fabric = generate("torus(4,4) hosts=32").value();
  const WhatIf spare = what_if(fabric, {link_between(fabric, 0, 1)}, {}).value();
  EXPECT_TRUE(spare.allowed());
  EXPECT_GT(spare.routes_cut, 0U);
  EXPECT_GT(spare.changes.changed, 0U);
  EXPECT_TRUE(contains(what_if_text(spare), "yes: isolating it is not critical"));
  const WhatIf own = what_if(fabric, {fabric.port(fabric.port_of(16, 1)).link}, {}).value();
  EXPECT_TRUE(own.critical());
  EXPECT_FALSE(own.allowed());
  EXPECT_EQ(own.hosts_lost, std::vector<std::string>{"host-0"});
  EXPECT_EQ(own.routes_cut, 2U * 31);
  EXPECT_TRUE(contains(what_if_text(own), "no: isolating it is critical"));
  EXPECT_EQ(what_if_record(own)["critical"], true);
  EXPECT_FALSE(what_if(fabric, {0}, by_engine("ftree")).ok());
}

TEST(WhatIf, AnEngineThatRefusesWhatIsLeftSaysNo) {
  const Fabric fabric = generate("mesh(3,3) hosts=9").value();
  const WhatIf answer = what_if(fabric, {link_between(fabric, 0, 1)}, by_engine("torus-2qos")).value();
  EXPECT_FALSE(answer.critical());
  EXPECT_FALSE(answer.allowed()) << "a line of a mesh in two pieces";
  EXPECT_TRUE(contains(what_if_text(answer), "no: hosts stay connected, but"));
}

TEST(WhatIf, GivenTablesAreMendedAsTheyWereMeant) {
  const Fabric fabric = generate("torus(4,4) links=2 hosts=32").value();
  for (const char* engine : {"dfsssp", "minhop"}) {
    const Forwarding tables = route(fabric, engine).value();
    WhatIfOptions options;
    options.tables = &tables;
    const WhatIf answer = what_if(fabric, {link_between(fabric, 0, 1)}, options).value();
    EXPECT_TRUE(answer.given);
    EXPECT_EQ(answer.after.engine, engine);
    EXPECT_EQ(answer.parallel_left, 1U);
    EXPECT_TRUE(answer.allowed()) << "no worse than before";
    EXPECT_EQ(answer.after.loops.empty(), answer.before.loops.empty());
    EXPECT_LT(answer.changes.changed, answer.changes.entries / 10);
  }
}

TEST(RoutingHealth, IsPrintedAndRecorded) {
  const Fabric fabric = generate("torus(5) hosts=5").value();
  const RoutingHealth routing = examine_engine(fabric, "minhop", {});
  EXPECT_FALSE(routing.good());
  EXPECT_TRUE(contains(routing_text(routing), "credit loops              found"));
  EXPECT_TRUE(contains(routing_text(routing), "lane 0: s-0 port"));
  EXPECT_EQ(routing_record(routing)["engine"], "minhop");
  EXPECT_EQ(routing_record(routing)["credit_loops"].size(), routing.loops.size());
}

}  // namespace
}  // namespace holdfast::fabric
