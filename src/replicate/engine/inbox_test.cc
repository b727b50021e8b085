#include "replicate/engine/inbox.h"

#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

Arrival numbered(std::uint64_t n) {
  Arrival arrival;
  arrival.sequence = n;
  return arrival;
}

TEST(Stream, FindsArrivalsByOrdinalWhateverTheOrderOfTaking) {
  Stream stream;
  EXPECT_EQ(stream.find(0), nullptr);
  for (std::uint64_t n = 0; n < 5; ++n) stream.push(numbered(100 + n));
  stream.take(3);
  stream.take(0);
  EXPECT_EQ(stream.find(1)->sequence, 101U);
  stream.take(1);
  stream.take(2);
  EXPECT_EQ(stream.waiting(), 1U);
  EXPECT_EQ(stream.find(4)->sequence, 104U);
  EXPECT_EQ(stream.find(5), nullptr);
  stream.push(numbered(105));
  EXPECT_EQ(stream.find(5)->sequence, 105U);
}

TEST(Stream, KnowsWhichSequenceNumbersWereTaken) {
  Stream stream;
  EXPECT_FALSE(stream.took(0));
  for (const std::uint64_t n : {10, 12, 17}) stream.push(numbered(n));
  stream.take(1);
  EXPECT_FALSE(stream.took(10));
  EXPECT_TRUE(stream.took(12));
  EXPECT_FALSE(stream.took(17));
  stream.take(0);
  EXPECT_TRUE(stream.took(10));
  EXPECT_TRUE(stream.took(12));
  EXPECT_FALSE(stream.took(17));
  EXPECT_FALSE(stream.took(18));
}

TEST(Inbox, KeepsChannelsAndReplicasApart) {
  Inbox inbox(3);
  inbox.streams({7, 1, 5})[2].push(numbered(1));
  inbox.streams({7, 1, 6})[2].push(numbered(2));
  inbox.streams({8, 1, 5})[2].push(numbered(3));
  EXPECT_EQ(inbox.streams({7, 1, 5})[2].find(0)->sequence, 1U);
  EXPECT_EQ(inbox.streams({7, 1, 6})[2].find(0)->sequence, 2U);
  EXPECT_EQ(inbox.streams({8, 1, 5})[2].find(0)->sequence, 3U);
  EXPECT_EQ(inbox.streams({7, 1, 5})[1].find(0), nullptr);
  EXPECT_EQ(inbox.waiting(), 3U);
}

}  // namespace
}  // namespace holdfast::replicate
