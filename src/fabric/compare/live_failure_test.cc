#include "fabric/compare/live_failure.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fabric/check/paths.h"
#include "fabric/faults/names.h"
#include "fabric/opensm/programs.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

LiveFailure fail_or_report(const Contender& contender, const Fabric& fabric, std::string_view link) {
  auto failure = fail_live(contender, fabric, find_links(fabric, link).value(), ContestRules());
  EXPECT_TRUE(failure.ok()) << failure.status().message();
  return failure.ok() ? std::move(failure).value() : LiveFailure();
}

TEST(LiveFailure, OfOursIsMendedBesideFullRerouting) {
  const Fabric fabric = generate("tree(4,3)").value();
  const LiveFailure failure = fail_or_report({false, "ftree"}, fabric, "s-0-0/5");
  ASSERT_TRUE(failure.after && failure.full);
  EXPECT_EQ(failure.after->routing.verdict, opensm::Verdict::routed);
  EXPECT_GT(failure.routes_cut, 0U);
  EXPECT_GT(failure.after->changes.changed, 0U);
  EXPECT_LE(failure.after->changes.changed, failure.full->changes.changed);
  EXPECT_EQ(check_paths(failure.degraded, failure.after->routing.forwarding).lost_pairs(), 0U);
  const nlohmann::ordered_json json = live_failure_json(failure);
  EXPECT_EQ(json["rerouted"]["entries_changed"], failure.after->changes.changed);
  EXPECT_NE(live_failure_text(failure).find("mended"), std::string::npos);
}

TEST(LiveFailure, WithoutTablesThereIsNothingToReroute) {
  const Fabric fabric = generate("torus(3,3) hosts=9").value();
  const LiveFailure failure = fail_or_report({false, "ftree"}, fabric, "s-0-0/1");
  EXPECT_EQ(failure.before.verdict, opensm::Verdict::refused);
  EXPECT_FALSE(failure.after);
}

TEST(LiveFailure, OfALinkThatIsDownIsAnError) {
  Fabric fabric = generate("torus(3,3) hosts=9").value();
  fabric.set_link_up(0, false);
  const auto failure = fail_live({false, "updn"}, fabric, {0}, ContestRules());
  ASSERT_FALSE(failure.ok());
  EXPECT_EQ(failure.status().code(), Code::bad_input);
}

TEST(LiveFailure, InOpensmHappensWhileItRuns) {
  if (!opensm::find_programs().ok()) GTEST_SKIP() << opensm::find_programs().status().message();
  const Fabric fabric = generate("torus(4,4) hosts=16").value();
  const LiveFailure failure = fail_or_report({true, "dfsssp"}, fabric, "s-0-0 - s-0-1");
  ASSERT_TRUE(failure.after);
  ASSERT_EQ(failure.after->routing.verdict, opensm::Verdict::routed) << failure.after->routing.reason;
  EXPECT_FALSE(failure.full);
  EXPECT_GT(failure.sweep_wall_ns, 0);
  EXPECT_GT(failure.after->changes.changed, 0U);
  EXPECT_EQ(check_paths(failure.degraded, failure.after->routing.forwarding).lost_pairs(), 0U);
}

TEST(LiveFailure, OpensmSurvivesTheLossOfTheFirstAdaptersSwitch) {
  if (!opensm::find_programs().ok()) GTEST_SKIP() << opensm::find_programs().status().message();
  const Fabric fabric = generate("torus(4,4) hosts=16").value();
  std::vector<LinkId> links;
  for (LinkId id = 0; id < fabric.links().size(); ++id)
    if (fabric.port(fabric.link(id).a).node == 0 || fabric.port(fabric.link(id).b).node == 0) links.push_back(id);
  auto failure = fail_live({true, "minhop"}, fabric, links, ContestRules());
  ASSERT_TRUE(failure.ok()) << failure.status().message();
  ASSERT_TRUE(failure.value().after);
  ASSERT_EQ(failure.value().after->routing.verdict, opensm::Verdict::routed) << failure.value().after->routing.reason;
  EXPECT_EQ(check_paths(failure.value().degraded, failure.value().after->routing.forwarding).lost_pairs(), 0U);
}

/// With the roots that an administrator would give it; without, it refuses leaves with fewer ways up.
TEST(LiveFailure, OpensmsFatTreeRoutesADamagedTree) {
  if (!opensm::find_programs().ok()) GTEST_SKIP() << opensm::find_programs().status().message();
  const Fabric fabric = generate("tree(4,3)").value();
  const LiveFailure failure = fail_or_report({true, "ftree"}, fabric, "s-0-0/5");
  ASSERT_EQ(failure.before.verdict, opensm::Verdict::routed) << failure.before.reason;
  ASSERT_TRUE(failure.after);
  ASSERT_EQ(failure.after->routing.verdict, opensm::Verdict::routed) << failure.after->routing.reason;
  EXPECT_EQ(check_paths(failure.degraded, failure.after->routing.forwarding).lost_pairs(), 0U);
}

TEST(LiveFailure, OpensmSaysWhyItCannotReroute) {
  if (!opensm::find_programs().ok()) GTEST_SKIP() << opensm::find_programs().status().message();
  const Fabric fabric = generate("torus(3,3) hosts=9").value();
  const LiveFailure failure = fail_or_report({true, "ftree"}, fabric, "s-0-0/2");
  EXPECT_EQ(failure.before.verdict, opensm::Verdict::refused) << "a torus is no tree";
  EXPECT_EQ(failure.before.reason.find("IB_TIMEOUT"), std::string::npos) << failure.before.reason;
  EXPECT_NE(failure.before.reason.find("more than one root"), std::string::npos) << failure.before.reason;
}

}  // namespace
}  // namespace holdfast::fabric
