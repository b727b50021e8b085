#include "replicate/engine/inbox.h"

#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

Arrival numbered(std::uint64_t n) {
  Arrival arrival;
  arrival.sequence = n;
  return arrival;
}

TEST(Lane, FindsArrivalsByOrdinalWhateverTheOrderOfTaking) {
  Lane lane;
  EXPECT_EQ(lane.find(0), nullptr);
  for (std::uint64_t n = 0; n < 5; ++n) lane.push(numbered(100 + n));
  lane.take(3);
  lane.take(0);
  EXPECT_EQ(lane.find(1)->sequence, 101U);
  lane.take(1);
  lane.take(2);
  EXPECT_EQ(lane.waiting(), 1U);
  EXPECT_EQ(lane.find(4)->sequence, 104U);
  EXPECT_EQ(lane.find(5), nullptr);
  lane.push(numbered(105));
  EXPECT_EQ(lane.find(5)->sequence, 105U);
}

TEST(Lane, KnowsWhichSequenceNumbersWereTaken) {
  Lane lane;
  EXPECT_FALSE(lane.took(0));
  for (const std::uint64_t n : {10, 12, 17}) lane.push(numbered(n));
  lane.take(1);
  EXPECT_FALSE(lane.took(10));
  EXPECT_TRUE(lane.took(12));
  EXPECT_FALSE(lane.took(17));
  lane.take(0);
  EXPECT_TRUE(lane.took(10));
  EXPECT_TRUE(lane.took(12));
  EXPECT_FALSE(lane.took(17));
  EXPECT_FALSE(lane.took(18));
}

TEST(Inbox, KeepsChannelsAndReplicasApart) {
  Inbox inbox(3);
  inbox.lanes({7, 1, 5})[2].push(numbered(1));
  inbox.lanes({7, 1, 6})[2].push(numbered(2));
  inbox.lanes({8, 1, 5})[2].push(numbered(3));
  EXPECT_EQ(inbox.lanes({7, 1, 5})[2].find(0)->sequence, 1U);
  EXPECT_EQ(inbox.lanes({7, 1, 6})[2].find(0)->sequence, 2U);
  EXPECT_EQ(inbox.lanes({8, 1, 5})[2].find(0)->sequence, 3U);
  EXPECT_EQ(inbox.lanes({7, 1, 5})[1].find(0), nullptr);
  EXPECT_EQ(inbox.waiting(), 3U);
}

}  // namespace
}  // namespace holdfast::replicate
