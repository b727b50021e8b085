// Sums that are made while a long message waits for its receiver.
#include <gtest/gtest.h>

#include <algorithm>

#include "transport/engine/joined_engines_for_tests.h"

namespace holdfast::transport {
namespace {

class SummingTest : public EngineTest {
 protected:
  SummingTest() {
    Bytes warm = pattern(8);
    Bytes in(8);
    receive(net_[1], in);
    send(net_[0], 1, warm);
    net_.run(20'000'000);
    net_[1].completions.clear();
  }
  // Asks the receiver, which has no receive for it yet, and makes all sums that can be made.
  unsigned ask() {
    EXPECT_EQ(send(net_[0], 1, out_, 0, SendMode::acknowledged), Posted::accepted);
    net_.settle();
    unsigned sums = 0;
    while (net_[0].engine->sum_ahead()) ++sums;
    return sums;
  }

  Network net_;
  Bytes out_ = pattern(1'000'000);
};

TEST_F(SummingTest, AWaitingMessageIsSummedAFragmentAtATimeAndArrives) {
  EXPECT_EQ(ask(), 4U) << "of 256 KiB";
  Bytes in(out_.size());
  receive(net_[1], in);
  EXPECT_FALSE(net_[0].engine->sum_ahead());
  net_.run(20'000'000);
  EXPECT_TRUE(in == out_);
  EXPECT_TRUE(net_[0].engine->idle());
  EXPECT_EQ(net_[0].engine->objects_in_use(), 0U);
}

// The sums are really used: memory that changes after they were made is not sent as good.
TEST_F(SummingTest, BytesThatChangeWhileTheMessageWaitsAreNoticed) {
  ask();
  out_[700'000] ^= std::byte{4};
  Bytes in(out_.size());
  receive(net_[1], in);
  net_.run(50'000'000);
  EXPECT_GE(net_[1].engine->counters()[Count::corrupt_fragments], 1U);
  ASSERT_EQ(of_kind(net_[0], Completion::Kind::peer_lost).size(), 1U);
  EXPECT_EQ(of_kind(net_[0], Completion::Kind::peer_lost)[0].outcome, Outcome::spoiled);
}

TEST_F(SummingTest, AShorterReceiveGetsItsPart) {
  ask();
  Bytes in(300'000);
  receive(net_[1], in);
  net_.run(20'000'000);
  EXPECT_TRUE(std::equal(in.begin(), in.end(), out_.begin()));
  ASSERT_EQ(net_[1].completions.size(), 1U);
  EXPECT_EQ(net_[1].completions[0].outcome, Outcome::truncated);
  EXPECT_TRUE(net_[0].engine->idle());
}

TEST_F(SummingTest, AMessageThatIsLostWhileItWaitsIsSummedNoMore) {
  EXPECT_EQ(send(net_[0], 1, out_, 0, SendMode::acknowledged), Posted::accepted);
  net_.settle();
  EXPECT_TRUE(net_[0].engine->sum_ahead());
  net_[1].engine->close(net_.now);
  net_.settle();
  EXPECT_EQ(of_kind(net_[0], Completion::Kind::send).size(), 2U);
  EXPECT_FALSE(net_[0].engine->sum_ahead());
  EXPECT_EQ(net_[0].engine->objects_in_use(), 0U);
}

TEST_F(SummingTest, WithoutAWaitingMessageThereIsNothingToDo) {
  EXPECT_FALSE(net_[0].engine->sum_ahead());
  Bytes in(out_.size());
  receive(net_[1], in);
  send(net_[0], 1, out_, 0, SendMode::acknowledged);
  net_.run(20'000'000);
  EXPECT_FALSE(net_[0].engine->sum_ahead());
}

}  // namespace
}  // namespace holdfast::transport
