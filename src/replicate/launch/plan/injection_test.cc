#include "replicate/launch/plan/injection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

using testing::HasSubstr;

const replicate::ReplicaMap three_of_two = replicate::ReplicaMap::uniform(2, 3).value();

TEST(CheckInjection, JoinsFaultsInPlainForm) {
  auto joined = check_injection("rank 1  replica 2 message 40 bit 7 # exponent\nflip rate 1/1000", three_of_two);
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  auto again = check_injection(joined.value(), three_of_two);
  EXPECT_EQ(again.value(), joined.value());
  EXPECT_EQ(joined.value().find('#'), std::string::npos);
  EXPECT_NE(joined.value().find(';'), std::string::npos);
}

TEST(CheckInjection, RefusesPlacesThatDoNotExist) {
  EXPECT_THAT(check_injection("rank 2 message 1", three_of_two).status().message(), HasSubstr("there is no rank 2"));
  EXPECT_THAT(check_injection("replica 3 message 1", three_of_two).status().message(),
              HasSubstr("there is no replica 3"));
  EXPECT_THAT(check_injection("peer 9 message 1", three_of_two).status().message(), HasSubstr("there is no peer 9"));
}

TEST(CheckInjection, KnowsHowManyReplicasEachRankHas) {
  const auto map = replicate::ReplicaMap::of_degrees({2, 1}).value();
  EXPECT_TRUE(check_injection("rank 0 replica 1 message 1; replica 1 rate 1/5", map).ok());
  EXPECT_THAT(check_injection("rank 1 replica 1 message 1", map).status().message(),
              HasSubstr("there is no replica 1: rank 1 has 1"));
}

TEST(CheckInjection, RefusesFaultsOfOtherLayers) {
  EXPECT_THAT(check_injection("kill-process rank 0 time 1s", three_of_two).status().message(),
              HasSubstr("only flip and corrupt-header are"));
  EXPECT_THAT(check_injection("flup rate 1/3", three_of_two).status().message(), HasSubstr("--inject"));
}

}  // namespace
}  // namespace holdfast::launch
