#include "replicate/launch/plan/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace holdfast::launch {
namespace {

using replicate::ReplicaMap;
using testing::ElementsAre;
using testing::HasSubstr;

ReplicaMap uniform(int ranks, int degree) {
  return ReplicaMap::uniform(ranks, degree).value();
}

TEST(Place, KeepsReplicasApartAndNeighboursTogether) {
  std::vector<Host> hosts{{"a", 2}, {"b", 2}, {"c", 2}};
  auto placement = place(uniform(2, 3), hosts, false);
  ASSERT_TRUE(placement.ok());
  EXPECT_THAT(placement.value(), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_EQ(as_host_sequence(placement.value(), hosts), "a\na\nb\nb\nc\nc\n");
  EXPECT_EQ(as_machine_file(placement.value(), hosts), "a:2\nb:2\nc:2\n");
}

TEST(Place, RanksWithoutReplicasFillTheHostsInOrder) {
  const std::vector<Host> hosts{{"a", 2}, {"b", 3}, {"c", 2}};
  EXPECT_THAT(place(uniform(6, 1), hosts, false).value(), ElementsAre(0, 0, 1, 1, 1, 2));
}

TEST(Place, UsesASingleHostForAll) {
  std::vector<Host> hosts{{"a", 6}};
  EXPECT_TRUE(place(uniform(2, 3), hosts, false).ok());
}

TEST(Place, KeepsReplicasApartWhereRanksHaveDifferentNumbers) {
  const std::vector<Host> hosts{{"a", 2}, {"b", 2}, {"c", 1}};
  const ReplicaMap map = ReplicaMap::of_degrees({3, 2}).value();
  const auto placement = place(map, hosts, false);
  ASSERT_TRUE(placement.ok());
  for (int rank = 0; rank < 2; ++rank) {
    std::set<int> seen;
    for (int k = 0; k < map.degree(rank); ++k)
      seen.insert(placement.value()[static_cast<std::size_t>(map.physical_rank(rank, k))]);
    EXPECT_EQ(static_cast<int>(seen.size()), map.degree(rank)) << "rank " << rank;
  }
  EXPECT_THAT(place(map, std::vector<Host>{{"a", 4}}, true).status().message(),
              HasSubstr("2 ranks x 2 to 3 replicas need 5 slots, but there are 4"));
  EXPECT_THAT(place(map, std::vector<Host>{{"a", 4}, {"b", 4}}, false).status().message(),
              HasSubstr("cannot keep the 3 replicas of rank 0 apart"));
}

TEST(Place, SaysWhenSlotsDoNotSuffice) {
  std::vector<Host> hosts{{"a", 5}};
  EXPECT_THAT(place(uniform(2, 3), hosts, false).status().message(),
              HasSubstr("2 ranks x 3 replicas need 6 slots, but there are 5"));
}

TEST(Place, SharesHostsOnlyWhenAllowed) {
  std::vector<Host> hosts{{"a", 4}, {"b", 4}};
  EXPECT_THAT(place(uniform(2, 3), hosts, false).status().message(), HasSubstr("--colocate"));
  auto placement = place(uniform(2, 3), hosts, true);
  ASSERT_TRUE(placement.ok());
  for (int rank : {0, 1}) {
    std::set<int> used;
    for (int replica : {0, 1, 2}) used.insert(placement.value()[uniform(2, 3).physical_rank(rank, replica)]);
    EXPECT_EQ(used.size(), 2U) << "spread as far as the hosts allow";
  }
}

TEST(AsMachineFile, KeepsRankOrder) {
  std::vector<Host> hosts{{"a", 4}, {"b", 4}};
  EXPECT_EQ(as_machine_file({0, 0, 1, 0, 1, 1}, hosts), "a:2\nb:1\na:1\nb:2\n");
}

/// The oracle: replicas can be kept apart exactly if, with no host running a rank twice, the slots still suffice.
bool can_be_kept_apart(int ranks, int degree, const std::vector<Host>& hosts) {
  int useful = 0;
  for (const Host& host : hosts) useful += std::min(host.slots, ranks);
  return useful >= ranks * degree;
}

void expect_sound(const ReplicaMap& map, const std::vector<Host>& hosts, const Placement& placement, bool apart) {
  ASSERT_EQ(placement.size(), static_cast<std::size_t>(map.physical_ranks()));
  std::vector<int> used(hosts.size(), 0);
  for (int host : placement) ++used[host];
  for (std::size_t host = 0; host < hosts.size(); ++host) EXPECT_LE(used[host], hosts[host].slots);
  for (int rank = 0; apart && rank < map.ranks(); ++rank) {
    std::set<int> distinct;
    for (int replica = 0; replica < map.degree(); ++replica)
      distinct.insert(placement[map.physical_rank(rank, replica)]);
    EXPECT_EQ(distinct.size(), static_cast<std::size_t>(map.degree())) << "rank " << rank;
  }
}

TEST(Place, AgreesWithTheOracleOnRandomHosts) {
  std::mt19937 random(20110705);
  auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int apart = 0;
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    int ranks = pick(1, 9);
    int degree = pick(1, 5);
    std::vector<Host> hosts(pick(2, 8));
    int slots = 0;
    for (Host& host : hosts) slots += (host = Host{"h" + std::to_string(trial), pick(1, 12)}).slots;
    auto placement = place(uniform(ranks, degree), hosts, false);
    EXPECT_EQ(placement.ok(), can_be_kept_apart(ranks, degree, hosts)) << "trial " << trial;
    if (placement.ok()) expect_sound(uniform(ranks, degree), hosts, placement.value(), true);
    auto shared = place(uniform(ranks, degree), hosts, true);
    EXPECT_EQ(shared.ok(), slots >= ranks * degree) << "trial " << trial;
    if (shared.ok()) expect_sound(uniform(ranks, degree), hosts, shared.value(), false);
    (placement.ok() ? apart : refused) += 1;
  }
  EXPECT_GT(apart, 300);
  EXPECT_GT(refused, 300);
}

/// Native ranks 0 to 5 as the map says, on hosts of two slots each.
ReplicaMap mapped(std::string_view text) {
  return ReplicaMap::parse(text, "map").value();
}

TEST(PlaceInOrder, TheMapFileSaysWhoSharesAHost) {
  const std::vector<Host> hosts{{"a", 2}, {"b", 2}, {"c", 3}};
  const ReplicaMap near = mapped("0 0 0\n1 0 1\n2 1 0\n3 1 1\n4 2 0\n5 2 1\n");
  const ReplicaMap far = mapped("0 0 0\n1 1 0\n2 2 0\n3 0 1\n4 1 1\n5 2 1\n");
  for (const ReplicaMap& map : {near, far}) {
    const auto placement = place_in_order(map, hosts);
    ASSERT_TRUE(placement.ok());
    EXPECT_THAT(placement.value(), ElementsAre(0, 0, 1, 1, 2, 2));
  }
  const Placement placement = place_in_order(near, hosts).value();
  EXPECT_EQ(rank_with_replicas_together(near, hosts, placement), 0);
  EXPECT_EQ(rank_with_replicas_together(far, hosts, placement), -1);
  EXPECT_EQ(rank_with_replicas_together(near, std::vector<Host>{{"a", 9}}, Placement(6)), -1) << "there is no choice";
  EXPECT_THAT(place_in_order(near, std::vector<Host>{{"a", 5}}).status().message(), HasSubstr("but there are 5"));
}

}  // namespace
}  // namespace holdfast::launch
