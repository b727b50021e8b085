#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fabric/topology/connectivity.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// Links from every switch to each of the others, by number.
std::vector<std::vector<std::uint32_t>> links_of_groups(const Fabric& fabric) {
  std::vector<std::vector<std::uint32_t>> links(fabric.switch_count());
  for (const Link& link : fabric.links()) {
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (!fabric.is_switch(a) || !fabric.is_switch(b)) continue;
    links[a].push_back(b);
    links[b].push_back(a);
  }
  return links;
}

// Shpiner et al., HiPINEB 2017: of switches with k ports, half of a leaf's are for hosts and half of a spine's for
// other groups, so that a group has k^2/4 hosts and there are at most k^2/4 + 1 groups.
TEST(DragonflyPlus, OfFullSwitchesHasThePublishedSize) {
  for (const std::uint32_t k : {4U, 8U, 12U}) {
    const std::uint32_t half = k / 2;
    const std::string text = "dragonfly-plus(" + std::to_string(half) + "," + std::to_string(half) + "," +
                             std::to_string(half) + "," + std::to_string(half) + "," + std::to_string(k * k / 4 + 1) +
                             ") ports=" + std::to_string(k);
    const auto made = generate(text);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made.value().adapter_count(), k * k / 4 * (k * k / 4 + 1));
    for (const Port& port : made.value().ports()) {
      const bool management =
          made.value().is_switch(port.node) &&
          made.value().node(port.node).first_port == static_cast<PortId>(&port - made.value().ports().data());
      if (management || !made.value().is_switch(port.node)) continue;
      EXPECT_NE(port.link, none) << "a port is left over";
    }
  }
}

TEST(DragonflyPlus, LeavesAreLinkedToAllSpinesOfTheirGroupAndGroupsOnceEach) {
  const Fabric fabric = generate("dragonfly-plus(3,4,2,2,9)").value();
  const auto links = links_of_groups(fabric);
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> between;
  for (NodeId at = 0; at < fabric.switch_count(); ++at) {
    const auto place = fabric.structure().at(at);
    std::multiset<std::uint32_t> inside;
    for (const NodeId other : links[at]) {
      const auto there = fabric.structure().at(other);
      if (there[0] == place[0]) {
        inside.insert(there[1]);
      } else {
        EXPECT_GE(place[1], 3U) << "a leaf has a link to another group";
        ++between[{place[0], there[0]}];
      }
    }
    const bool leaf = place[1] < 3;
    EXPECT_EQ(inside, leaf ? (std::multiset<std::uint32_t>{3, 4, 5, 6}) : (std::multiset<std::uint32_t>{0, 1, 2}));
  }
  EXPECT_EQ(between.size(), 9U * 8);
  for (const auto& [groups, count] : between) EXPECT_EQ(count, 1U);
}

TEST(DragonflyPlus, ThreeHopsJoinAnyTwoLeaves) {
  const Fabric fabric = generate("dragonfly-plus(4,4,4,4,17)").value();
  const auto links = links_of_groups(fabric);
  for (NodeId from = 0; from < fabric.switch_count(); ++from) {
    if (fabric.structure().at(from)[1] >= 4) continue;
    std::vector<std::uint32_t> hops(fabric.switch_count(), none);
    std::vector<NodeId> queue{from};
    hops[from] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const NodeId next : links[queue[i]]) {
        if (hops[next] != none) continue;
        hops[next] = hops[queue[i]] + 1;
        queue.push_back(next);
      }
    }
    for (NodeId to = 0; to < fabric.switch_count(); ++to) {
      if (fabric.structure().at(to)[1] >= 4 || to == from) continue;
      EXPECT_EQ(hops[to], fabric.structure().at(to)[0] == fabric.structure().at(from)[0] ? 2U : 3U);
    }
  }
}

}  // namespace
}  // namespace holdfast::fabric
