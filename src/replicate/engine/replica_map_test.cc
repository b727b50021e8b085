#include "replicate/engine/replica_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <sstream>

namespace holdfast::replicate {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto map = ReplicaMap::parse(text, "ring.map");
  return map ? "parsed" : map.status().message();
}

TEST(ReplicaMapUniform, FollowsTheFormulasOfFigure2) {
  for (int ranks = 1; ranks <= 7; ++ranks)
    for (int degree = 1; degree <= 5; ++degree) {
      const auto map = ReplicaMap::uniform(ranks, degree);
      ASSERT_TRUE(map.ok());
      EXPECT_EQ(map.value().physical_ranks(), ranks * degree);
      for (int rank = 0; rank < ranks; ++rank)
        for (int replica = 0; replica < degree; ++replica) {
          const int physical = rank + replica * ranks;
          EXPECT_EQ(map.value().physical_rank(rank, replica), physical);
          EXPECT_EQ(map.value().virtual_rank(physical), rank);
          EXPECT_EQ(map.value().replica(physical), replica);
        }
    }
}

TEST(ReplicaMapUniform, RefusesWhatIsNoJob) {
  for (auto [ranks, degree] :
       {std::pair{0, 3}, {3, 0}, {-1, 2}, {2, -5}, {1 << 16, 1 << 15}, {std::numeric_limits<int>::max(), 2}}) {
    const auto map = ReplicaMap::uniform(ranks, degree);
    ASSERT_FALSE(map.ok()) << ranks << " x " << degree;
    EXPECT_EQ(map.status().code(), Code::bad_input);
  }
}

TEST(ReplicaMapParse, ReadsCommentsBlankLinesTabsAndCarriageReturns) {
  const auto map = ReplicaMap::parse("# replicas side by side\r\n\n0 0 0\r\n 1\t0 1 # beside it\n3 1 1\n2 1 0", "m");
  ASSERT_TRUE(map.ok()) << map.status().message();
  EXPECT_EQ(map.value().ranks(), 2);
  EXPECT_EQ(map.value().degree(), 2);
  EXPECT_EQ(map.value().physical_rank(1, 0), 2);
  EXPECT_EQ(map.value().physical_rank(0, 1), 1);
  EXPECT_EQ(map.value().virtual_rank(3), 1);
  EXPECT_EQ(map.value().replica(3), 1);
}

TEST(ReplicaMapParse, ReadsEveryPermutationBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 6);
    const int degree = 1 + static_cast<int>(random() % 4);
    std::vector<int> physical_ranks(static_cast<std::size_t>(ranks * degree));
    for (std::size_t i = 0; i < physical_ranks.size(); ++i) physical_ranks[i] = static_cast<int>(i);
    std::shuffle(physical_ranks.begin(), physical_ranks.end(), random);
    std::ostringstream text;
    for (std::size_t i = 0; i < physical_ranks.size(); ++i)
      text << physical_ranks[i] << ' ' << static_cast<int>(i) / degree << ' ' << static_cast<int>(i) % degree << '\n';
    const auto map = ReplicaMap::parse(text.str(), "m");
    ASSERT_TRUE(map.ok()) << map.status().message();
    for (std::size_t i = 0; i < physical_ranks.size(); ++i)
      EXPECT_EQ(map.value().physical_rank(static_cast<int>(i) / degree, static_cast<int>(i) % degree),
                physical_ranks[i]);
  }
}

TEST(ReplicaMapParse, TheUniformMapWrittenOutIsTheUniformMap) {
  const auto written = ReplicaMap::parse("0 0 0\n1 1 0\n2 0 1\n3 1 1\n4 0 2\n5 1 2\n", "m");
  ASSERT_TRUE(written.ok());
  EXPECT_TRUE(written.value() == ReplicaMap::uniform(2, 3).value());
}

TEST(ReplicaMapOfDegrees, GivesNativeRanksOutReplicaByReplica) {
  const ReplicaMap map = ReplicaMap::of_degrees({3, 1, 2}).value();
  EXPECT_EQ(map.ranks(), 3);
  EXPECT_EQ(map.degree(), 3);
  EXPECT_EQ(map.physical_ranks(), 6);
  EXPECT_TRUE(map.partial());
  EXPECT_THAT(map.degrees(), testing::ElementsAre(3, 1, 2));
  EXPECT_EQ(map.degrees_text(), "1 to 3");
  EXPECT_EQ(ReplicaMap::uniform(2, 3).value().degrees_text(), "3");
  EXPECT_TRUE(map == ReplicaMap::parse("0 0 0\n1 1 0\n2 2 0\n3 0 1\n4 2 1\n5 0 2\n", "m").value());
  EXPECT_TRUE(ReplicaMap::of_degrees({2, 2, 2}).value() == ReplicaMap::uniform(3, 2).value());
  EXPECT_FALSE(ReplicaMap::uniform(3, 2).value().partial());
}

TEST(ReplicaMapOfDegrees, RefusesWhatIsNoJob) {
  for (const std::vector<int>& degrees : {std::vector<int>{}, {0}, {2, -1}, {1 << 30, 1 << 30}})
    EXPECT_FALSE(ReplicaMap::of_degrees(degrees).ok());
}

TEST(ReplicaMapParse, RanksMayHaveDifferentNumbersOfReplicas) {
  const auto map = ReplicaMap::parse("0 1 0\n1 0 1\n2 0 0\n", "m");
  ASSERT_TRUE(map.ok()) << map.status().message();
  EXPECT_TRUE(map.value().partial());
  EXPECT_EQ(map.value().degree(0), 2);
  EXPECT_EQ(map.value().degree(1), 1);
  EXPECT_EQ(map.value().physical_rank(0, 1), 1);
  EXPECT_EQ(map.value().physical_rank(1, 0), 0);
}

TEST(ReplicaMapParse, NamesLineAndColumnOfEveryMistake) {
  EXPECT_THAT(error_of(""), HasSubstr("ring.map:1:1: no line"));
  EXPECT_THAT(error_of("# only\n\n"), HasSubstr("ring.map:3:1: no line"));
  EXPECT_THAT(error_of("0 0 0\n1 0\n"), HasSubstr("ring.map:2:4: 2 of three"));
  EXPECT_THAT(error_of("0 0 0 0\n"), HasSubstr("ring.map:1:7: a fourth field"));
  EXPECT_THAT(error_of("0 0 0\n1 zero 1\n"), HasSubstr("ring.map:2:3: \"zero\" is not a number"));
  EXPECT_THAT(error_of("0 0 -1\n"), HasSubstr("ring.map:1:5: \"-1\" is negative"));
  EXPECT_THAT(error_of("0 0 -\n"), HasSubstr("\"-\" is not a number"));
  EXPECT_THAT(error_of("0 0 0x1\n"), HasSubstr("\"0x1\" is not a number"));
  EXPECT_THAT(error_of("0 0 +1\n"), HasSubstr("\"+1\" is not a number"));
  EXPECT_THAT(error_of("\x1b[2J 0 0\n"), HasSubstr("ring.map:1:1: \"?[2J\" is not a number"));
  EXPECT_THAT(error_of("0 0 99999999999999999999999999\n"),
              HasSubstr("ring.map:1:5: \"99999999999999999999...\" is too"));
  EXPECT_THAT(error_of("0 2147483647 0\n"), HasSubstr("ring.map:1:3: \"2147483647\" is too large"));
}

TEST(ReplicaMapParse, NamesDuplicatesAndHoles) {
  EXPECT_THAT(error_of("0 0 0\n0 0 1\n"), HasSubstr("ring.map:2:1: physical rank 0 is already mapped in line 1"));
  EXPECT_THAT(error_of("0 0 0\n2 0 1\n"), HasSubstr("ring.map:2:1: physical rank 2 in a map of 2 lines"));
  EXPECT_THAT(error_of("0 0 0\n1 0 0\n"), HasSubstr("ring.map:2:3: replica 0 of virtual rank 0 is already played"));
  EXPECT_THAT(error_of("0 0 0\n1 1 1\n"), HasSubstr("replica 0 of virtual rank 1 is missing"));
  EXPECT_THAT(error_of("0 0 0\n1 0 2\n2 1 0\n"), HasSubstr("replica 1 of virtual rank 0 is missing"));
  EXPECT_THAT(error_of("0 1 0\n1 1 1\n"), HasSubstr("replica 0 of virtual rank 0 is missing"));
}

TEST(ReplicaMapParse, HugeNumbersCostNothing) {
  EXPECT_THAT(error_of("0 2147483646 0\n"), HasSubstr("virtual rank 0 is missing"));
  EXPECT_THAT(error_of("0 0 2147483646\n"), HasSubstr("replica 0 of virtual rank 0 is missing"));
  EXPECT_THAT(error_of("0 0 0\n1 0 2147483646\n"), HasSubstr("replica 1 of virtual rank 0 is missing"));
  EXPECT_THAT(error_of("0 0 0\n1 2147483646 0\n"), HasSubstr("replica 0 of virtual rank 1 is missing"));
  EXPECT_THAT(error_of("0 2147483646 2147483646\n"), HasSubstr("missing"));
}

}  // namespace
}  // namespace holdfast::replicate
