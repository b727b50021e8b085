#include "fabric/faults/difference.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(Difference, AFabricIsEqualToItselfInAnyOrder) {
  const Fabric fabric = generate("torus(3,3) hosts=9").value();
  EXPECT_TRUE(difference(fabric, fabric).none_at_all());
  EXPECT_TRUE(difference(Fabric(), Fabric()).none_at_all());
}

TEST(Difference, FindsWhatHappened) {
  const Fabric before = generate("tree(2,2)").value();
  Fabric after = before;
  after.set_link_up(1, false);
  after.mutable_link(2).rate = {1, LaneSpeed::qdr};
  after.mutable_link(3).rate = {4, LaneSpeed::fdr};
  after.mutable_node(0).name = "renamed";
  after.mutable_port(after.port_of(1, 0)).lid = 99;
  const Difference found = difference(before, after);
  EXPECT_EQ(found.lost_links, std::vector<LinkId>{1});
  ASSERT_EQ(found.slower_links.size(), 1U);
  EXPECT_EQ(found.slower_links[0].before, 2U);
  ASSERT_EQ(found.faster_links.size(), 1U);
  EXPECT_EQ(found.faster_links[0].before, 3U);
  ASSERT_EQ(found.renamed.size(), 1U);
  EXPECT_EQ(found.renamed[0].before, 0U);
  ASSERT_EQ(found.new_lids.size(), 1U);
  EXPECT_EQ(found.new_lids[0].before, 1U);
  EXPECT_FALSE(found.same_network());
  EXPECT_EQ(difference(after, before).new_links, std::vector<LinkId>{1});
}

TEST(Difference, NodesThatAreGoneTakeTheirLinksAlong) {
  const Fabric before = generate("mesh(3) hosts=3").value();
  Fabric after;  // the middle switch and its host are gone
  for (NodeId id : {0U, 2U, 3U, 5U})
    after.add_node(before.node(id).kind, before.node(id).port_count, before.node(id).name, before.node(id).guid);
  after.add_link(after.port_of(0, 3), after.port_of(2, 1));
  after.add_link(after.port_of(1, 3), after.port_of(3, 1));
  const Difference found = difference(before, after);
  EXPECT_EQ(found.lost_nodes, (std::vector<NodeId>{1, 4}));
  EXPECT_EQ(found.lost_links.size(), 3U);
  EXPECT_TRUE(found.new_links.empty());
  const Fabric observed = as_observed(before, after);
  EXPECT_EQ(observed.nodes().size(), before.nodes().size());
  EXPECT_EQ(difference(before, observed).lost_links.size(), 3U);
}

}  // namespace
}  // namespace holdfast::fabric
