#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fabric/topology/connectivity.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// The neighbours of every switch, with repetitions.
std::vector<std::multiset<NodeId>> lift_neighbours(const Fabric& fabric) {
  std::vector<std::multiset<NodeId>> neighbours(fabric.switch_count());
  for (const Link& link : fabric.links()) {
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (!fabric.is_switch(a) || !fabric.is_switch(b)) continue;
    neighbours[a].insert(b);
    neighbours[b].insert(a);
  }
  return neighbours;
}

TEST(Xpander, IsALiftOfTheCompleteGraph) {
  for (const auto& [d, k, seed] : {std::tuple{3U, 5U, 1U}, {5U, 6U, 2U}, {11U, 18U, 3U}}) {
    const std::string text =
        "xpander(" + std::to_string(d) + "," + std::to_string(k) + ") seed=" + std::to_string(seed);
    const Fabric fabric = generate(text).value();
    ASSERT_EQ(fabric.switch_count(), (d + 1) * k) << text;
    const auto neighbours = lift_neighbours(fabric);
    for (NodeId at = 0; at < fabric.switch_count(); ++at) {
      std::set<std::uint32_t> groups;
      for (const NodeId other : neighbours[at]) groups.insert(fabric.structure().at(other)[0]);
      EXPECT_EQ(neighbours[at].size(), d) << text << ": not regular";
      EXPECT_EQ(groups.size(), d) << text << ": a link to each other group";
      EXPECT_FALSE(groups.contains(fabric.structure().at(at)[0])) << text << ": a link inside a group";
    }
    EXPECT_NE(diameter(fabric), none);
  }
}

// Valadarsky et al., CoNEXT 2016: paths are about as short as those of a random regular graph, and those nearly as
// short as can be. Moore's bound: no 11-regular graph of 216 switches has more than 1 + 11 + 110 within two hops, so
// that the mean over others is at least (11 + 2 * 110 + 3 * 94) / 215 = 2.39.
TEST(Xpander, HasPathsNearlyAsShortAsCanBe) {
  for (const char* text : {"xpander(11,18)", "random(216,11)"}) {
    const Fabric fabric = generate(text).value();
    ASSERT_EQ(fabric.switch_count(), 216U);
    const auto neighbours = lift_neighbours(fabric);
    std::uint64_t sum = 0;
    for (NodeId from = 0; from < 216; ++from) {
      std::map<NodeId, std::uint32_t> hops{{from, 0}};
      std::vector<NodeId> queue{from};
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const NodeId next : neighbours[queue[i]]) {
          if (!hops.emplace(next, hops[queue[i]] + 1).second) continue;
          sum += hops[next];
          queue.push_back(next);
        }
      }
    }
    const double mean = static_cast<double>(sum) / (216 * 215);
    EXPECT_GE(mean, 513.0 / 215) << text;
    EXPECT_LE(mean, 1.1 * 513.0 / 215) << text;
  }
}

TEST(Xpander, SeedsGiveDifferentNetworksAndTheSameSeedTheSame) {
  const auto first = lift_neighbours(generate("xpander(5,6) seed=1").value());
  EXPECT_EQ(first, lift_neighbours(generate("xpander(5,6) seed=1").value()));
  EXPECT_NE(first, lift_neighbours(generate("xpander(5,6) seed=2").value()));
}

// A. Singla, C. Hong, L. Popa, P. Godfrey, "Jellyfish: Networking Data Centers Randomly", NSDI 2012: RRG(N, k, r), each
// of N switches with r links to others and k - r hosts.
TEST(Jellyfish, IsRegularAndSimple) {
  const Fabric fabric = generate("random(60,7) hosts-per-switch=5 ports=12 seed=4").value();
  EXPECT_EQ(fabric.adapter_count(), 300U);
  for (const std::multiset<NodeId>& all : lift_neighbours(fabric)) {
    EXPECT_EQ(all.size(), 7U);
    EXPECT_EQ(std::set<NodeId>(all.begin(), all.end()).size(), 7U) << "two links between the same switches";
  }
  EXPECT_NE(diameter(fabric), none);
}

}  // namespace
}  // namespace holdfast::fabric
