#include "replicate/engine/degrees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace holdfast::replicate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> of(std::string_view text, int ranks) {
  const auto degrees = Degrees::parse(text);
  EXPECT_TRUE(degrees.ok()) << text;
  return degrees.ok() ? degrees.value().of(ranks).value() : std::vector<int>{};
}

std::string error_of(std::string_view text) {
  const auto degrees = Degrees::parse(text);
  return degrees ? "parsed" : degrees.status().message();
}

TEST(Degrees, AWholeNumberIsForAll) {
  EXPECT_THAT(of("3", 4), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(of("1", 1), ElementsAre(1));
  EXPECT_THAT(of("2.0", 3), ElementsAre(2, 2, 2));
}

TEST(Degrees, AFractionIsSpreadFromRankZeroOn) {
  EXPECT_THAT(of("1.5", 5), ElementsAre(2, 1, 2, 1, 2));
  EXPECT_THAT(of("2.5", 4), ElementsAre(3, 2, 3, 2));
  EXPECT_THAT(of("1.25", 8), ElementsAre(2, 1, 1, 1, 2, 1, 1, 1));
  EXPECT_THAT(of("1.75", 8), ElementsAre(2, 2, 2, 1, 2, 2, 2, 1));
  EXPECT_THAT(of("1.000001", 3), ElementsAre(2, 1, 1));
  EXPECT_THAT(of("1.999999", 3), ElementsAre(2, 2, 2));
}

TEST(Degrees, AFractionOfNRanksIsRoundedUp) {
  for (int hundredths = 0; hundredths < 100; ++hundredths) {
    const std::string text = "2." + std::string(hundredths < 10 ? "0" : "") + std::to_string(hundredths);
    for (int ranks = 1; ranks < 250; ++ranks) {
      const std::vector<int> all = of(text, ranks);
      const int more = std::accumulate(all.begin(), all.end(), 0) - 2 * ranks;
      EXPECT_EQ(more, (ranks * hundredths + 99) / 100) << text << " of " << ranks;
    }
  }
}

TEST(Degrees, RanksByThemselves) {
  EXPECT_THAT(of("1,3:0,2:2-3", 5), ElementsAre(3, 1, 2, 2, 1));
  EXPECT_THAT(of("2,1:1", 3), ElementsAre(2, 1, 2));
  EXPECT_THAT(of("1.5,3:1", 4), ElementsAre(2, 3, 2, 1));
  EXPECT_THAT(of("1,2:0-3,3:1", 4), ElementsAre(2, 3, 2, 2));
}

TEST(Degrees, TheRanksOfSoManyProcesses) {
  for (const char* text : {"1", "2", "1.5", "2.25", "1,3:0,2:2-3"}) {
    const Degrees degrees = Degrees::parse(text).value();
    for (int ranks = 4; ranks < 60; ++ranks) {
      const std::vector<int> all = degrees.of(ranks).value();
      EXPECT_EQ(degrees.ranks(std::accumulate(all.begin(), all.end(), 0)), ranks) << text;
    }
  }
  EXPECT_EQ(Degrees::parse("2").value().ranks(5), std::nullopt);
  EXPECT_EQ(Degrees::parse("1.5").value().ranks(4), std::nullopt);
  EXPECT_EQ(Degrees::parse("1,2:3").value().ranks(2), std::nullopt);
}

TEST(Degrees, WhatIsNone) {
  EXPECT_THAT(error_of("0"), HasSubstr("'0' is out of bounds"));
  EXPECT_THAT(error_of("0.5"), HasSubstr("'0.5' is no number of processes"));
  EXPECT_THAT(error_of("1025"), HasSubstr("out of bounds"));
  EXPECT_THAT(error_of("1024.5"), HasSubstr("out of bounds"));
  EXPECT_THAT(error_of("99999999999"), HasSubstr("is no number of processes"));
  EXPECT_THAT(error_of("1.1234567"), HasSubstr("six digits"));
  EXPECT_THAT(error_of("1,2:3,"), HasSubstr("'' is no number of processes"));
  EXPECT_THAT(error_of("1,2:3-1"), HasSubstr("'2:3-1' names no ranks"));
  for (const char* text : {"", "x", "-1", "+2", "2.", "2.x", ".5", "2x", "1,", "1,2", "1,2:", "1,2:a", "1,2:-1",
                           "1,0:0", "1,2:1-", " 2", "2,3:0-1-2", "2.5.5", "2;3:0"})
    EXPECT_NE(error_of(text), "parsed") << text;
  EXPECT_THAT(Degrees::parse("1,2:3-4").value().of(4).status().message(), HasSubstr("rank 4 is named, of 4 ranks"));
}

TEST(Degrees, WhetherThereAreReplicas) {
  for (const char* text : {"1", "1.0", "1,1:0"}) EXPECT_FALSE(asks_for_replicas(text)) << text;
  for (const char* text : {"2", "1.5", "1,2:0", "2,1:0"}) EXPECT_TRUE(asks_for_replicas(text)) << text;
  for (const char* text : {"", "x"}) EXPECT_FALSE(asks_for_replicas(text)) << text;
}

}  // namespace
}  // namespace holdfast::replicate
