#include "simulate/job/replica_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/output/output_file.h"
#include "core/scratch/scratch_folder.h"
#include "fabric/topology/generate.h"

namespace holdfast::simulate::job {
namespace {

using Hosts = std::vector<std::uint32_t>;

class ReplicaPlacements : public testing::Test {
 protected:
  ReplicaPlacements() : fabric_(fabric::generate("tree(4,2)").value()) {
    if (fabric_.top_lid() == 0) fabric_.assign_lids();
    taken_.assign(fabric_.adapter_count(), false);
    rules_.ranks_per_host = 2;
  }
  Result<Hosts> place(const std::string& how, std::uint32_t ranks, int degree) {
    return place_replicas(rules_, parse_replica_placement(how), ranks, degree, fabric_, taken_);
  }

  fabric::Fabric fabric_;
  std::vector<bool> taken_;
  PlacementRules rules_;
};

TEST_F(ReplicaPlacements, Apart) {
  EXPECT_EQ(place("apart", 4, 2).value(), (Hosts{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(std::count(taken_.begin(), taken_.end(), true), 4);
}

TEST_F(ReplicaPlacements, ApartAlsoWhereOneHostHadRoomForAll) {
  rules_.ranks_per_host = 16;
  EXPECT_EQ(place("apart", 2, 3).value(), (Hosts{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(std::count(taken_.begin(), taken_.end(), true), 3);
}

TEST_F(ReplicaPlacements, NoHostHasTwoOfARank) {
  for (const auto distribution : {Distribution::block, Distribution::round_robin, Distribution::random})
    for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 7U})
      for (const int degree : {2, 3, 4}) {
        rules_.distribution = distribution;
        taken_.assign(taken_.size(), false);
        const auto hosts = place("apart", ranks, degree);
        ASSERT_TRUE(hosts.ok()) << hosts.status().message();
        std::vector<std::uint32_t> load(taken_.size(), 0);
        for (const std::uint32_t host : hosts.value()) ++load[host];
        EXPECT_LE(*std::ranges::max_element(load), 2u);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          Hosts own;
          for (int replica = 0; replica < degree; ++replica)
            own.push_back(hosts.value()[static_cast<std::uint32_t>(replica) * ranks + rank]);
          std::ranges::sort(own);
          EXPECT_EQ(std::ranges::adjacent_find(own), own.end()) << ranks << " " << degree;
        }
      }
}

TEST_F(ReplicaPlacements, Together) {
  EXPECT_EQ(place("together", 3, 2).value(), (Hosts{0, 1, 2, 0, 1, 2}));
}

TEST_F(ReplicaPlacements, ByAMapOfHoldfastRun) {
  const scratch::ScratchFolder folder;
  const std::string path = folder.file("map");
  ASSERT_TRUE(output::write_file(path, "0 1 0\n1 0 0\n2 0 1\n3 1 1\n").ok());
  EXPECT_EQ(place(path, 2, 2).value(), (Hosts{0, 0, 1, 1}));
  EXPECT_EQ(place(path, 3, 2).status().code(), Code::bad_input);
  EXPECT_EQ(place(path, 2, 3).status().code(), Code::bad_input);
  EXPECT_EQ(place(folder.file("none"), 2, 2).status().code(), Code::not_found);
  ASSERT_TRUE(output::write_file(path, "0 0 0\n1 1 0\n2 0 1\n").ok());  // rank 1 has one replica
  EXPECT_EQ(place(path, 2, 2).status().code(), Code::bad_input);
}

TEST_F(ReplicaPlacements, TooManyAreRefusedInOneLine) {
  const auto places = static_cast<std::uint32_t>(2 * taken_.size());
  EXPECT_NE(place("apart", places, 2).status().message().find("places"), std::string::npos);
  rules_.hosts = {{fabric_.node(fabric_.port(0).node).name, 8}};
  rules_.hosts.front().name = "absent";
  EXPECT_FALSE(place("together", 2, 2).ok());
}

TEST_F(ReplicaPlacements, OneHostCannotKeepThemApart) {
  rules_.ranks_per_host = 8;
  std::fill(taken_.begin() + 1, taken_.end(), true);
  const auto apart = place("apart", 2, 2);
  ASSERT_FALSE(apart.ok());
  EXPECT_NE(apart.status().message().find("--place-replicas together"), std::string::npos);
  EXPECT_TRUE(place("together", 2, 2).ok());
}

}  // namespace
}  // namespace holdfast::simulate::job
