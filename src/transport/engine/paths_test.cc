// Rails that share, die, are busy and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "transport/engine/joined_engines_for_tests.h"
#include "transport/wire/packet.h"

namespace holdfast::transport {
namespace {

using PathsTest = EngineTest;

TEST_F(PathsTest, TwoRailsShareByBandwidthAndASilentOneIsReplacedWithinThreeTicks) {
  Network net(2);
  Bytes out = pattern(4 << 20);
  Bytes in(out.size());
  receive(net[1], in);
  std::map<std::uint32_t, std::size_t> bytes;
  net.lose = [&](const Network::Packet& packet) {
    if (packet.from == 0) bytes[packet.rail] += packet.bytes.size();
    return false;
  };
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(5'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_GT(bytes[0], out.size() / 4);
  EXPECT_GT(bytes[1], out.size() / 4);

  net.lose = [](const Network::Packet& packet) { return packet.rail == 0; };
  std::fill(in.begin(), in.end(), std::byte{0});
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(4 * defaults().tick_ns);
  EXPECT_TRUE(in == out);
  EXPECT_NE(net[0].engine->rail(0, 1).state, RailState::up);
  EXPECT_EQ(net[0].engine->rail(1, 1).state, RailState::up);

  net.lose = [](const Network::Packet&) { return false; };
  net.run(3'000'000'000, 5'000'000);
  EXPECT_EQ(net[0].engine->rail(0, 1).state, RailState::up) << "it answers again";
  EXPECT_GT(net[0].engine->counters()[Count::probes_sent], 0U);
}

TEST_F(PathsTest, ARailThatReportsAnErrorIsOutForThatPeerOnly) {
  Network net(2, defaults(), 3);
  for (const PeerId to : {1U, 2U}) {
    Bytes out = pattern(10);
    send(net[0], to, out);
  }
  net.settle();
  net[0].engine->on_rail_failed(1, 2, net.now);
  EXPECT_EQ(net[0].engine->rail(1, 1).state, RailState::up);
  EXPECT_EQ(net[0].engine->rail(1, 2).state, RailState::out);
  EXPECT_EQ(net[0].engine->rail(0, 2).state, RailState::up);
  EXPECT_EQ(net[0].engine->counters()[Count::rails_lost], 1U);
}

TEST_F(PathsTest, AConnectionThatFailsBeforeTheTwoHaveMetIsNoLostRail) {
  Network net(2);
  net[0].keep_puts = true;
  net.lose = [](const Network::Packet&) { return true; };  // the peer does not listen yet
  Bytes out = pattern(5000);
  Bytes in(out.size());
  receive(net[1], in);
  send(net[0], 1, out);
  net.run(1'000'000);
  EXPECT_EQ(net[0].pending.size(), 2U) << "a HELLO a rail";
  net[0].keep_puts = false;
  for (const std::uint64_t token : std::exchange(net[0].pending, {})) net[0].engine->on_put_done(token, false, net.now);
  net.lose = [](const Network::Packet&) { return false; };
  net.run(100'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[0].engine->counters()[Count::rails_lost], 0U);
}

TEST_F(PathsTest, MemoryOfAPendingPutStaysUntilItIsDone) {
  Network net;
  net[0].keep_puts = true;
  Bytes out = pattern(10);
  Bytes in(10);
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(1'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[0].completions.size(), 0U) << "the rail may still read the memory";
  while (!net[0].pending.empty()) {
    net[0].engine->on_put_done(net[0].pending.front(), true, net.now);
    net[0].pending.pop_front();
  }
  EXPECT_EQ(net[0].completions.size(), 1U);
}

TEST_F(PathsTest, ARailThatKeepsAPutTooLongIsTakenOut) {
  Network net(2);
  Bytes out = pattern(10);
  send(net[0], 1, out);
  net.settle();
  net[0].keep_puts = true;
  net.lose = [](const Network::Packet& packet) { return packet.from == 0; };
  send(net[0], 1, out);
  net.run(defaults().local_timeout_ns + 500'000'000, 1'000'000);
  EXPECT_GT(net[0].engine->counters()[Count::local_timeouts], 0U);
  while (!net[0].pending.empty()) {
    net[0].engine->on_put_done(net[0].pending.front(), true, net.now);
    net[0].pending.pop_front();
  }
}

TEST_F(PathsTest, ABusyRailIsTriedAgainWhenItIsReadyAndOtherwiseSoon) {
  for (const bool told : {true, false}) {
    Network net;
    Bytes out = pattern(10);
    Bytes in(10);
    send(net[0], 1, out);
    net.settle();
    receive(net[1], in, any_peer, 2);
    net.answer = [](std::uint32_t, PeerId) { return Put::busy; };
    send(net[0], 1, out, 2);
    EXPECT_EQ(net.under_way.size(), 0U);
    net.answer = [](std::uint32_t, PeerId) { return Put::done; };
    if (told) {
      net[0].engine->on_rail_ready(0, net.now);
    } else {
      net.run(1'000'000);
    }
    net.settle();
    EXPECT_TRUE(in == out);
  }
}

TEST_F(PathsTest, AHelloItsChallengeItsAnswerAndAnAcknowledgementThatFoundNoRoomGoWhenThereIs) {
  Network net;
  Bytes out = pattern(10);
  Bytes in(10);
  receive(net[1], in);
  PeerId stuck = 0;
  net.answer = [&](std::uint32_t, PeerId from) { return from == stuck ? Put::busy : Put::done; };
  send(net[0], 1, out);
  EXPECT_EQ(net.under_way.size(), 0U);
  for (int n = 0; n < 10; ++n) net[0].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net[0].engine->counters()[Count::probes_sent], 0U) << "what found no room is not sent";
  stuck = 1;
  net[0].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "the HELLO, before it is due again";
  net.settle();
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 2;
  net[1].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "its challenge";
  stuck = 1;
  net.settle();  // the HELLO with the cookie comes
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 2;
  net[1].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "its answer";
  stuck = 1;
  net.settle();  // the message comes
  EXPECT_TRUE(in == out);
  net.now += defaults().ack_delay_ns + 1;
  net[1].engine->advance(net.now);  // its acknowledgement is due, and refused
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 2;
  net[1].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "the acknowledgement";
  net.settle();
  EXPECT_TRUE(net[0].engine->idle());
}

/// Two rails of Ethernet's packets, and messages from node 0 to node 1 that keep both in use.
class TwoRailsTest : public EngineTest {
 protected:
  TwoRailsTest() : net(2, small_packets()) { warm(); }

  static Options small_packets() {
    Options options = defaults();
    options.fragment_bytes = 1328;
    return options;
  }
  void warm() {
    Bytes out = pattern(20000);
    Bytes in(out.size());
    receive(net[1], in);
    send(net[0], 1, out);
    net.run(5'000'000);
    ASSERT_TRUE(in == out);
  }
  // Messages, some of them short, for so long.
  void work(std::int64_t duration_ns) {
    for (const std::int64_t end = net.now + duration_ns; net.now < end;) {
      ++sent_;
      Bytes out = pattern(sent_ % 3 == 0 ? 100 : 20000, sent_);
      Bytes in(out.size());
      receive(net[1], in);
      ASSERT_EQ(send(net[0], 1, out, 0, SendMode::acknowledged), Posted::accepted);
      const std::size_t ended = of_kind(net[0], Completion::Kind::send).size() + 1;
      for (int i = 0; i < 100 && of_kind(net[0], Completion::Kind::send).size() < ended; ++i) net.run(30'000'000);
      ASSERT_TRUE(in == out) << sent_;
    }
  }
  std::uint64_t count(Count what) { return net[0].engine->counters()[what]; }
  RailState state(std::uint32_t rail) { return net[0].engine->rail(rail, 1).state; }

  Network net;

 private:
  unsigned sent_ = 0;
};

TEST_F(TwoRailsTest, ARailThatLosesLongPacketsIsTakenOutAndComesBackWhenItCarriesThem) {
  net.lose = [](const Network::Packet& packet) { return packet.rail == 0 && packet.bytes.size() > 700; };
  work(3'000'000'000);
  EXPECT_EQ(state(0), RailState::out) << "it answers short questions, and carries no data";
  EXPECT_EQ(state(1), RailState::up);
  EXPECT_LE(count(Count::rails_suspected), 2U);
  EXPECT_EQ(count(Count::rails_regained), 0U);
  net.lose = [](const Network::Packet&) { return false; };
  work(3'000'000'000);
  EXPECT_EQ(state(0), RailState::up);
}

TEST_F(TwoRailsTest, ARailThatCarriesLongQuestionsAndNoDataIsOutForLongerEachTime) {
  net.lose = [](const Network::Packet& packet) {
    wire::Reader reader;
    return packet.rail == 0 && reader.open(packet.bytes) == wire::Refusal::none && reader.header().key != 0 &&
           packet.bytes.size() > 700;
  };
  work(10'000'000'000);
  EXPECT_GT(count(Count::rails_lost), 0U) << "by the count of retransmissions";
  EXPECT_LE(count(Count::rails_lost), 30U) << "it is tried less and less often";
}

TEST_F(TwoRailsTest, HintsThatARailDoesNotWorkCostAQuestionATickAndMoveNothing) {
  std::size_t questions = 0;
  std::size_t bytes = 0;
  net.peek_put = [&](PeerId from, std::span<const iovec> pieces) {
    if (from != 0) return;
    ++questions;
    for (const iovec& piece : pieces) bytes = std::max(bytes, piece.iov_len);
  };
  const std::int64_t ticks = 20;
  for (std::int64_t n = 0; n < ticks * 100; ++n) {
    net[0].engine->on_rail_doubted(0, n % 2 == 0 ? 1 : any_peer, net.now);
    net.run(defaults().tick_ns / 100);
  }
  EXPECT_LE(questions, 2 * static_cast<std::size_t>(ticks) + 8) << "of this rail and the other";
  EXPECT_GT(bytes, 1000U) << "as long as data's packets";
  EXPECT_EQ(count(Count::rails_suspected), 0U);
  EXPECT_EQ(state(0), RailState::up);
}

TEST_F(TwoRailsTest, AHintThatIsTrueHasTheRailLeftBeforeAnythingIsLostOnIt) {
  net.lose = [](const Network::Packet& packet) { return packet.rail == 0; };
  net[0].engine->on_rail_doubted(0, 1, net.now);
  net.run(3 * defaults().tick_ns);
  EXPECT_NE(state(0), RailState::up);
  EXPECT_EQ(count(Count::fragments_retransmitted), 0U);
}

TEST_F(TwoRailsTest, APeerThatWaitsForAProcessorIsNoFaultOfItsRails) {
  for (int i = 0; i < 20; ++i) {
    std::vector<Network::Packet> waiting;
    net.lose = [&](const Network::Packet& packet) {
      if (packet.to == 1) waiting.push_back(packet);
      return packet.to == 1;
    };
    Bytes out = pattern(20000, 7);
    Bytes in(out.size());
    receive(net[1], in);
    send(net[0], 1, out, 0, SendMode::acknowledged);
    for (std::int64_t end = net.now + 100'000'000; net.now < end; net.now += 1'000'000) {
      net[0].engine->advance(net.now);  // and not node 1's
    }
    net.lose = [](const Network::Packet&) { return false; };
    for (Network::Packet& packet : waiting) {
      // One rail after the other, as a process polls them; time goes on meanwhile.
      net.under_way.push_back(std::move(packet));
      net.run(100'000);
    }
    net.run(20'000'000);
    EXPECT_TRUE(in == out);
  }
  EXPECT_EQ(count(Count::rails_suspected), 0U);
  EXPECT_EQ(count(Count::rails_lost), 0U);
}

TEST_F(TwoRailsTest, AnAcknowledgementOfBeforeDoesNotTakeARailBackAndARestoredLinkIsAskedAtOnce) {
  std::vector<Network::Packet> answers;
  net.lose = [&](const Network::Packet& packet) {
    if (packet.from == 1) answers.push_back(packet);
    return packet.from == 1;
  };
  Bytes out = pattern(20000, 3);
  Bytes in(out.size());
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(500'000);
  ASSERT_FALSE(answers.empty());
  net[0].engine->on_rail_failed(0, any_peer, net.now);
  net.lose = [](const Network::Packet& packet) { return packet.rail == 0; };
  for (Network::Packet& packet : answers) net.under_way.push_back(std::move(packet));
  net.run(200'000'000);
  EXPECT_EQ(state(0), RailState::out);
  EXPECT_EQ(count(Count::rails_regained), 0U);
  EXPECT_TRUE(in == out);
  net.lose = [](const Network::Packet&) { return false; };
  net[0].engine->on_rail_restored(0, net.now);
  net[0].engine->advance(net.now);
  net.settle();
  EXPECT_EQ(state(0), RailState::up);
}

/// A process that had no processor for long finds that the timer has run out before it sees what its rails have done.
TEST_F(TwoRailsTest, ARailThatFinishedWhileTheProcessSleptIsKept) {
  Bytes out = pattern(20000, 4);
  send(net[0], 1, out);
  net.settle();
  net[0].keep_puts = true;
  send(net[0], 1, out);
  net.run(1'000'000);
  ASSERT_FALSE(net[0].pending.empty());
  net.now += 3 * defaults().local_timeout_ns;
  net[0].engine->advance(net.now);
  for (const std::uint64_t token : std::exchange(net[0].pending, {})) net[0].engine->on_put_done(token, true, net.now);
  net[0].keep_puts = false;
  net.run(100'000'000);
  EXPECT_GT(count(Count::local_timeouts), 0U);
  EXPECT_EQ(count(Count::rails_lost), 0U);
  EXPECT_EQ(state(0), RailState::up);
}

/// A rail over a stream finishes nothing while the peer's process has no processor, and then all others are silent too.
TEST_F(TwoRailsTest, ARailWhoseWholePeerIsSilentIsNotLost) {
  Bytes out = pattern(20000, 4);
  send(net[0], 1, out);
  net.settle();
  net[0].keep_puts = true;
  net.lose = [](const Network::Packet&) { return true; };
  send(net[0], 1, out);
  net.run(3 * defaults().local_timeout_ns, 1'000'000);
  EXPECT_GT(count(Count::local_timeouts), 0U);
  EXPECT_EQ(count(Count::rails_lost), 0U);
  net.lose = [](const Network::Packet&) { return false; };
  for (const std::uint64_t token : std::exchange(net[0].pending, {})) net[0].engine->on_put_done(token, true, net.now);
  net[0].keep_puts = false;
  net.run(500'000'000, 1'000'000);
  EXPECT_EQ(count(Count::rails_lost), 0U);
}

/// The peer's process loses its processor after it has answered on one rail and before it reads the other, a stream.
TEST_F(TwoRailsTest, AnAnswerOnOneRailDoesNotBlameAStreamThatThePeerHadNoTimeToRead) {
  Bytes out = pattern(20000, 4);
  send(net[0], 1, out);
  net.settle();
  for (int i = 0; i < 5; ++i) {
    net[0].keep_puts = true;
    send(net[0], 1, out);
    bool answers = false;  // of the peer, on rail 1 alone
    net.lose = [&answers](const Network::Packet& packet) { return !(answers && packet.rail == 1); };
    const auto before = count(Count::local_timeouts);
    while (count(Count::local_timeouts) == before) net.run(1'000'000, 1'000'000);
    answers = true;
    net.run(2'000'000, 100'000);
    answers = false;
    net.run(20 * defaults().tick_ns, 1'000'000);  // without a processor
    net.lose = [](const Network::Packet&) { return false; };
    for (const std::uint64_t token : std::exchange(net[0].pending, {}))
      net[0].engine->on_put_done(token, true, net.now);
    net[0].keep_puts = false;
    net.run(500'000'000, 1'000'000);
    EXPECT_EQ(count(Count::rails_lost), 0U);
    EXPECT_EQ(count(Count::rails_suspected), 0U);
  }
}

/// A packet is lost, and both rails are asked. On rail 0, a stream, the answer is behind data of the peer's, of which
/// this process takes two packets whenever it has a processor; rail 1 it reads to the end.
TEST_F(TwoRailsTest, AnswersBehindThePeersDataOnAStreamAreWaitedFor) {
  std::deque<Network::Packet> unread[2];
  net.lose = [&](const Network::Packet& packet) {
    if (packet.to == 0) unread[packet.rail].push_back(packet);
    return packet.to == 0 || (count(Count::timeouts) == 0 && packet.bytes.size() > 300);
  };
  Bytes there = pattern(400, 8);
  Bytes here = pattern(60000, 9);
  Bytes got_there(there.size());
  Bytes got_here(here.size());
  receive(net[1], got_there);
  receive(net[0], got_here);
  send(net[0], 1, there, 0, SendMode::acknowledged);
  send(net[1], 0, here);
  net.settle();
  const auto look = [&] {
    const auto take = [&](std::deque<Network::Packet>& from) {
      net.under_way.push_back(std::move(from.front()));
      from.pop_front();
      net.settle();
    };
    while (!unread[1].empty()) take(unread[1]);
    for (int n = 0; n < 2 && !unread[0].empty(); ++n) take(unread[0]);
    net[0].engine->advance(net.now);
    net.settle();
  };
  std::size_t looks = 0;
  for (; looks < 200 && !(got_here == here && got_there == there); ++looks) {
    for (int n = 0; n < 6; ++n) {
      net.now += defaults().tick_ns / 4;
      net[1].engine->advance(net.now);
      net.settle();
    }
    look();
    ASSERT_EQ(count(Count::rails_suspected), 0U) << looks;
  }
  EXPECT_GT(looks, 10U) << "rail 0 was behind for long";
  EXPECT_EQ(count(Count::rails_lost), 0U);
  EXPECT_TRUE(got_here == here && got_there == there);
}

TEST_F(TwoRailsTest, ARailThatIsDeadOneWayIsLeftThoughDataComesTheOtherWay) {
  net.lose = [](const Network::Packet& packet) { return packet.to == 1 && packet.rail == 0; };
  Bytes here = pattern(2000, 9);
  Bytes there = pattern(20000, 8);
  for (int n = 0; n < 1000 && state(0) == RailState::up; ++n) {
    send(net[1], 0, here);
    if (n % 10 == 0) send(net[0], 1, there);
    net.run(100'000, 100'000);
  }
  EXPECT_NE(state(0), RailState::up);
}

TEST_F(TwoRailsTest, ARailThatTakesPacketsAndDoesNotSendThemIsTakenOut) {
  net[0].take_puts = true;
  net.answer = [](std::uint32_t, PeerId) { return Put::done; };
  Bytes out = pattern(20000, 4);
  Bytes in(out.size());
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(5'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::send).size(), 2U) << "its memory is not waited for";
  EXPECT_GT(net[0].engine->pending_puts(), 0U);
  net.run(2 * defaults().local_timeout_ns, 1'000'000);
  EXPECT_GT(count(Count::local_timeouts), 0U) << "though all was acknowledged";
  EXPECT_GT(count(Count::rails_lost), 0U);
  net[0].take_puts = false;
  for (const std::uint64_t token : std::exchange(net[0].pending, {})) net[0].engine->on_put_done(token, true, net.now);
  EXPECT_EQ(net[0].engine->pending_puts(), 0U);
  work(2'000'000'000);
  EXPECT_EQ(state(0), RailState::up);
}

}  // namespace
}  // namespace holdfast::transport
