// Two or three engines joined by a network in the test's hands: each behaviour by itself. What holds under every
// mixture of faults is the business of the worlds (src/transport/world).
#include "transport/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/random/stream.h"

namespace holdfast::transport {
namespace {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  std::uint32_t state = seed * 2654435761U + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

iovec piece(Bytes& bytes) {
  return {bytes.data(), bytes.size()};
}

Options defaults() {
  Options options;
  options_table().apply_defaults(options);
  return options;
}

class Network;

/// One endpoint. Its name is one byte, which is its number and its PeerId at everyone.
class Node : public Host {
 public:
  Node(Network& network, PeerId number, const Options& options, std::uint64_t epoch);

  Put put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) override;
  void complete(const Completion& completion) override { completions.push_back(completion); }
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t) override {
    return name.size() == 1 ? std::to_integer<PeerId>(name[0]) : any_peer;
  }
  std::byte* memory(std::uint64_t key, std::uint64_t address, std::size_t bytes, Access access) override {
    if (key != 77 || address + bytes > region.size() || access == forbidden) return nullptr;
    return region.data() + address;
  }
  bool apply_atomic(std::uint64_t operation, std::byte* target, std::size_t bytes, std::span<const std::byte> operands,
                    std::byte* old_values) override {
    if (operation != 1 || bytes != 8 || operands.size() != 8) return false;
    std::uint64_t value = 0;
    std::uint64_t operand = 0;
    std::memcpy(&value, target, 8);
    std::memcpy(&operand, operands.data(), 8);
    if (old_values != nullptr) std::memcpy(old_values, &value, 8);
    value += operand;
    std::memcpy(target, &value, 8);
    return true;
  }

  Network& network;
  PeerId number;
  std::vector<Completion> completions;
  std::deque<std::uint64_t> pending;  ///< tokens, when puts are kept
  bool keep_puts = false;
  Bytes region = Bytes(4096);
  std::optional<Access> forbidden;
  std::unique_ptr<Engine> engine;
};

class Network {
 public:
  struct Packet {
    PeerId from;
    PeerId to;
    std::uint32_t rail;
    Bytes bytes;
  };

  explicit Network(std::size_t rails = 1, Options chosen = defaults(), std::size_t count = 2)
      : options(chosen),
        traits(rails, RailTraits{.most_packet_bytes = 1 << 20, .bytes_per_second = 1e9, .checksum = {}}) {
    for (std::size_t i = 0; i < count; ++i) add_node();
  }

  Node& add_node() {
    nodes.push_back(std::make_unique<Node>(*this, static_cast<PeerId>(nodes.size()), options, 100));
    return *nodes.back();
  }
  void restart(PeerId number, std::uint64_t epoch) {
    nodes[number] = std::make_unique<Node>(*this, number, options, epoch);
  }
  Node& operator[](std::size_t i) { return *nodes[i]; }

  // Delivers everything that is under way, and what follows from it, without time going on.
  void settle() {
    while (!under_way.empty()) {
      Packet packet = std::move(under_way.front());
      under_way.pop_front();
      now += 1000;
      nodes[packet.to]->engine->on_packet(packet.rail, packet.bytes, now);
    }
  }
  // Lets time go on, with all that falls due.
  void run(std::int64_t duration_ns, std::int64_t step_ns = 100'000) {
    for (const std::int64_t end = now + duration_ns; now < end; now += step_ns) {
      settle();
      for (auto& node : nodes) node->engine->advance(now);
    }
    settle();
  }

  Options options;
  std::vector<RailTraits> traits;
  std::vector<std::unique_ptr<Node>> nodes;
  std::deque<Packet> under_way;
  std::function<bool(const Packet&)> lose = [](const Packet&) { return false; };
  std::function<void(Packet&)> spoil = [](Packet&) {};
  std::function<void(PeerId from, std::span<const iovec>)> peek_put = [](PeerId, std::span<const iovec>) {};
  std::function<Put(std::uint32_t rail, PeerId from)> answer = [](std::uint32_t, PeerId) { return Put::done; };
  std::int64_t now = 1'000'000;
};

Node::Node(Network& net, PeerId id, const Options& options, std::uint64_t epoch) : network(net), number(id) {
  const std::byte name{static_cast<unsigned char>(id)};
  engine = std::make_unique<Engine>(options, net.traits, *this, std::span(&name, 1), epoch, net.now);
}

Put Node::put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) {
  const Put put = network.answer(rail, number);
  if (put == Put::busy || put == Put::failed) return put;
  network.peek_put(number, pieces);
  Network::Packet packet{number, peer, rail, {}};
  for (const iovec& each : pieces) {
    const auto* from = static_cast<const std::byte*>(each.iov_base);
    packet.bytes.insert(packet.bytes.end(), from, from + each.iov_len);
  }
  if (!network.lose(packet)) {
    network.spoil(packet);
    network.under_way.push_back(std::move(packet));
  }
  if (!keep_puts) return Put::done;
  pending.push_back(token);
  return Put::pending;
}

class EngineTest : public testing::Test {
 protected:
  static Posted send(Node& from, PeerId to, Bytes& bytes, std::uint64_t tag = 0, SendMode mode = SendMode::buffered,
                     void* context = nullptr) {
    const iovec one = piece(bytes);
    return from.engine->send(
        {.peer = to, .pieces = {&one, 1}, .mode = mode, .tagged = true, .tag = tag, .context = context},
        from.network.now);
  }
  static Posted receive(Node& at, Bytes& bytes, PeerId from = any_peer, std::uint64_t tag = 0, std::uint64_t ignore = 0,
                        void* context = nullptr) {
    const iovec one = piece(bytes);
    return at.engine->receive(
        {.pieces = {&one, 1}, .peer = from, .tagged = true, .tag = tag, .ignore = ignore, .context = context},
        at.network.now);
  }
  static std::vector<Completion> of_kind(const Node& node, Completion::Kind kind) {
    std::vector<Completion> found;
    for (const Completion& completion : node.completions) {
      if (completion.kind == kind) found.push_back(completion);
    }
    return found;
  }
};

TEST_F(EngineTest, CarriesMessagesOfEveryLengthBothWaysRoundTheEagerLimit) {
  for (const std::size_t size : {0UL, 1UL, 8UL, 16384UL, 16385UL, 65536UL, 65537UL, 1048576UL, 1048577UL, 5000000UL}) {
    for (const SendMode mode : {SendMode::buffered, SendMode::acknowledged}) {
      for (const bool expected : {true, false}) {
        Network net;
        Bytes out = pattern(size);
        Bytes in(size);
        if (expected) receive(net[1], in, 0, 7);
        ASSERT_EQ(send(net[0], 1, out, 7, mode), Posted::accepted);
        net.settle();
        net.run(1'000'000);
        if (!expected) receive(net[1], in, any_peer, 7);
        net.run(20'000'000);
        const auto received = of_kind(net[1], Completion::Kind::receive);
        ASSERT_EQ(received.size(), 1U) << size;
        EXPECT_EQ(received[0].outcome, Outcome::ok);
        EXPECT_EQ(received[0].bytes, size);
        EXPECT_EQ(received[0].peer, 0U);
        EXPECT_TRUE(received[0].released);
        EXPECT_TRUE(in == out) << size;
        const auto sent = of_kind(net[0], Completion::Kind::send);
        ASSERT_EQ(sent.size(), 1U);
        EXPECT_EQ(sent[0].outcome, Outcome::ok);
        EXPECT_EQ(net[0].engine->objects_in_use(), 0U);
        EXPECT_EQ(net[1].engine->objects_in_use(), 0U);
        EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], 0U);
      }
    }
  }
}

TEST_F(EngineTest, MatchesByPeerTagAndIgnoredBitsInTheOrderOfSending) {
  Network net(1, defaults(), 3);
  std::vector<Bytes> out;
  for (unsigned i = 0; i < 6; ++i) out.push_back(pattern(10 + i, i));
  std::vector<Bytes> in(6, Bytes(100));
  send(net[0], 2, out[0], 0xA1);
  send(net[1], 2, out[1], 0xA1);
  send(net[0], 2, out[2], 0xB2);
  send(net[0], 2, out[3], 0xA1);
  net.settle();
  receive(net[2], in[0], 0, 0xB2, 0, &in[0]);         // passes 0xA1 by
  receive(net[2], in[1], 0, 0xA0, 0x0F, &in[1]);      // the first 0xA? of 0
  receive(net[2], in[2], any_peer, 0xA1, 0, &in[2]);  // now 1's came before 0's second, or after
  receive(net[2], in[3], any_peer, 0xA1, 0, &in[3]);
  net.settle();
  const auto received = of_kind(net[2], Completion::Kind::receive);
  ASSERT_EQ(received.size(), 4U);
  const auto length = [&](const Bytes& buffer) {
    for (const Completion& each : received) {
      if (each.context == &buffer) return each.bytes;
    }
    return std::size_t{0};
  };
  EXPECT_EQ(length(in[0]), 12U);
  EXPECT_EQ(length(in[1]), 10U);
  EXPECT_EQ(length(in[2]) + length(in[3]), 11U + 13U);
}

TEST_F(EngineTest, TruncatesToTheReceivesLengthEagerAndAnnounced) {
  for (const std::size_t size : {1000UL, 500000UL}) {
    for (const std::size_t room : {0UL, 1UL, 999UL}) {
      for (const bool expected : {true, false}) {
        Network net;
        Bytes out = pattern(size);
        Bytes in(room + 8, std::byte{0x77});
        const auto post = [&] {
          const iovec one = {in.data(), room};
          net[1].engine->receive({.pieces = {&one, 1}, .tagged = true}, net.now);
        };
        if (expected) post();
        send(net[0], 1, out, 0, SendMode::acknowledged);
        net.settle();
        if (!expected) post();
        net.run(20'000'000);
        const auto received = of_kind(net[1], Completion::Kind::receive);
        ASSERT_EQ(received.size(), 1U) << size << " " << room;
        EXPECT_EQ(received[0].outcome, Outcome::truncated);
        EXPECT_EQ(received[0].bytes, room);
        EXPECT_EQ(received[0].message_bytes, size);
        EXPECT_TRUE(std::equal(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(room), out.begin()));
        EXPECT_EQ(in[room], std::byte{0x77});
        ASSERT_EQ(of_kind(net[0], Completion::Kind::send).size(), 1U);
        EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
      }
    }
  }
}

TEST_F(EngineTest, AMultiReceiveTakesMessagesUntilTooLittleIsLeft) {
  Network net;
  Bytes buffer(100);
  const iovec one = piece(buffer);
  net[1].engine->receive({.pieces = {&one, 1}, .multi = true, .least_bytes = 30, .context = &buffer}, net.now);
  for (unsigned i = 0; i < 4; ++i) {
    Bytes out(25, static_cast<std::byte>(i + 1));
    const iovec from = piece(out);
    net[0].engine->send({.peer = 1, .pieces = {&from, 1}}, net.now);
  }
  net.settle();
  const auto received = of_kind(net[1], Completion::Kind::receive);
  ASSERT_EQ(received.size(), 3U);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(received[i].buffer, buffer.data() + 25 * i);
    EXPECT_EQ(*received[i].buffer, static_cast<std::byte>(i + 1));
    EXPECT_EQ(received[i].released, i == 2);
  }
}

TEST_F(EngineTest, PeeksClaimsTakesAndDiscards) {
  for (const std::size_t size : {100UL, 300000UL}) {
    Network net;
    Bytes out = pattern(size);
    Bytes in(size);
    send(net[0], 1, out, 5, SendMode::acknowledged);
    send(net[0], 1, out, 6, SendMode::acknowledged);
    EXPECT_FALSE(net[1].engine->peek({.tagged = true, .tag = 5}, false, net.now));
    net.settle();
    const auto seen = net[1].engine->peek({.tagged = true, .tag = 5}, false, net.now);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->bytes, size);
    EXPECT_TRUE(net[1].engine->peek({.tagged = true, .tag = 5, .context = &in}, true, net.now));
    EXPECT_FALSE(net[1].engine->peek({.tagged = true, .tag = 5}, false, net.now)) << "it was set aside";
    const iovec one = piece(in);
    EXPECT_EQ(net[1].engine->receive_claimed({.pieces = {&one, 1}, .tagged = true, .context = &in}, net.now),
              Posted::accepted);
    net.run(20'000'000);
    EXPECT_TRUE(in == out);
    EXPECT_TRUE(net[1].engine->peek({.tagged = true, .tag = 6, .context = &out}, true, net.now));
    EXPECT_TRUE(net[1].engine->discard_claimed(&out, net.now));
    EXPECT_FALSE(net[1].engine->discard_claimed(&out, net.now));
    net.run(20'000'000);
    EXPECT_EQ(of_kind(net[0], Completion::Kind::send).size(), 2U);
    EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 1U);
    EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
  }
}

TEST_F(EngineTest, ACanceledReceiveCompletesAsCanceledAndTakesNothing) {
  Network net;
  Bytes in(10);
  Bytes out = pattern(10);
  receive(net[1], in, any_peer, 0, 0, &in);
  EXPECT_TRUE(net[1].engine->cancel(&in, net.now));
  EXPECT_FALSE(net[1].engine->cancel(&in, net.now));
  ASSERT_EQ(net[1].completions.size(), 1U);
  EXPECT_EQ(net[1].completions[0].outcome, Outcome::canceled);
  send(net[0], 1, out);
  net.settle();
  EXPECT_EQ(net[1].completions.size(), 1U);
}

TEST_F(EngineTest, SendsOnlyWhatIsMissingAgain) {
  Network net;
  Bytes out = pattern(40 * net[0].engine->fragment_bytes());
  Bytes in(out.size());
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  unsigned data = 0;
  net.lose = [&](const Network::Packet& packet) {
    if (packet.bytes.size() < 10000) return false;
    ++data;
    return data == 7 || data == 9 || data == 30;
  };
  net.run(20'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], 3U);
  EXPECT_EQ(net[1].engine->counters()[Count::duplicates], 0U);
}

TEST_F(EngineTest, BytesThatChangedInTheLogBeforeTheyGoAgainAreNoticedAndReported) {
  for (const std::size_t rails : {1U, 2U}) {
    SCOPED_TRACE(rails);
    Network net(rails);
    if (rails == 2) net.traits[1].checksum = integrity::Checksum::xxh3_64;  // another sum must not hide it
    net.restart(0, 100);
    net.restart(1, 100);
    Bytes warm = pattern(8);
    Bytes in(30000);
    receive(net[1], in);
    send(net[0], 1, warm);
    net.run(5'000'000);
    unsigned puts = 0;
    net.peek_put = [&](PeerId from, std::span<const iovec> pieces) {
      if (from != 0 || pieces.size() < 2 || ++puts > 1) return;
      static_cast<std::byte*>(pieces[1].iov_base)[1234] ^= std::byte{16};  // in the log, as it goes out
    };
    Bytes out = pattern(20000);
    receive(net[1], in);
    send(net[0], 1, out);
    net.run(50'000'000);
    EXPECT_GE(net[0].engine->counters()[Count::corrupt_sources], 1U);
    EXPECT_GE(net[1].engine->counters()[Count::corrupt_fragments], 1U);
    const auto lost = of_kind(net[0], Completion::Kind::lost);
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0].outcome, Outcome::spoiled);
    EXPECT_EQ(lost[0].message_bytes, 1U);
    Bytes again = pattern(20000, 2);  // and the next session works
    receive(net[1], in);
    send(net[0], 1, again);
    net.run(50'000'000);
    EXPECT_TRUE(std::equal(again.begin(), again.end(), in.begin()));
    EXPECT_TRUE(net[0].engine->idle());
  }
}

TEST_F(EngineTest, MemoryThatChangesWhileItIsReadRemotelyIsReadAllTheSame) {
  Network net;
  Bytes in(64);
  const iovec one = piece(in);
  unsigned changes = 0;
  net.peek_put = [&](PeerId from, std::span<const iovec> pieces) {
    if (from == 1 && pieces.size() == 2 && ++changes <= 3) net[1].region[5] ^= std::byte{1};
  };
  net[0].engine->read({.peer = 1, .pieces = {&one, 1}, .remote = {.address = 0, .key = 77}}, net.now);
  net.run(200'000'000);
  const auto done = of_kind(net[0], Completion::Kind::read);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].outcome, Outcome::ok);
  EXPECT_EQ(in[5], net[1].region[5]);
  EXPECT_EQ(net[1].engine->counters()[Count::corrupt_sources], 0U);
}

TEST_F(EngineTest, ALostLastFragmentIsSentAgainWhenTheAcknowledgementTimerIsDue) {
  Network net;
  Bytes out = pattern(10);
  Bytes in(10);
  receive(net[1], in);
  send(net[0], 1, out);
  net.settle();
  Bytes again(10);
  receive(net[1], again);
  bool lost = false;
  net.lose = [&](const Network::Packet& packet) { return packet.from == 0 && !std::exchange(lost, true); };
  send(net[0], 1, out);
  net.settle();
  EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 1U);
  net.run(20'000'000);
  EXPECT_EQ(of_kind(net[1], Completion::Kind::receive).size(), 2U);
  EXPECT_EQ(net[0].engine->counters()[Count::timeouts], 1U);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], 1U);
}

TEST_F(EngineTest, CorruptPayloadsAreDroppedAndSentAgainUnderEveryChecksum) {
  for (std::uint8_t algorithm = 1; algorithm < integrity::checksum_names.size(); ++algorithm) {
    Options options = defaults();
    options.checksum = static_cast<integrity::Checksum>(algorithm);
    options.fragment_bytes = 16384;
    Network net(1, options);
    Bytes out = pattern(100000);
    Bytes in(out.size());
    receive(net[1], in);
    unsigned data = 0;
    net.spoil = [&](Network::Packet& packet) {
      if (packet.bytes.size() > 1000 && ++data % 3 == 0) packet.bytes[packet.bytes.size() - 5] ^= std::byte{4};
    };
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.run(50'000'000);
    EXPECT_TRUE(in == out) << integrity::checksum_names[algorithm];
    EXPECT_GT(net[1].engine->counters()[Count::corrupt_fragments], 0U);
  }
}

TEST_F(EngineTest, OneLostPacketInTwentyIsSentAgainAndNothingElse) {
  Options options = defaults();
  options.fragment_bytes = 1328;
  Network net(1, options);
  Bytes out = pattern(16 << 20);
  Bytes in(out.size());
  random::Stream chance(1);
  std::uint64_t lost = 0;
  net.lose = [&](const Network::Packet& packet) {
    if (!chance.chance(1, 20)) return false;
    lost += packet.bytes.size() > 1000 ? 1 : 0;
    return true;
  };
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(1'000'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[1].engine->counters()[Count::duplicates], 0U);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], lost);
  EXPECT_EQ(net[0].engine->rail(0, 1).window_bytes, options.window_bytes);
}

TEST_F(EngineTest, APeerThatIsSilentForAWhileGetsTwoFragmentsATimeoutAndKeepsItsWindow) {
  for (const std::size_t rails : {1U, 2U}) {
    SCOPED_TRACE(rails);
    Options options = defaults();
    options.fragment_bytes = 1328;
    options.vfrag_window = 64;
    Network net(rails, options);
    Bytes out = pattern(1 << 20);
    Bytes in(out.size());
    receive(net[1], in);
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.run(1'000'000);
    EXPECT_TRUE(in == out);
    std::fill(in.begin(), in.end(), std::byte{0});
    receive(net[1], in);
    std::deque<Network::Packet> waiting;  // in the peer's socket, while its process waits for a processor
    net.lose = [&](const Network::Packet& packet) {
      if (packet.to == 1) waiting.push_back(packet);
      return packet.to == 1;
    };
    const std::size_t window = net[0].engine->rail(0, 1).window_bytes;
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.run(20'000'000);
    EXPECT_LT(waiting.size(), 20 + 790 * rails);
    const std::uint64_t timeouts = net[0].engine->counters()[Count::timeouts];
    EXPECT_GT(timeouts, 0U);
    EXPECT_LE(net[0].engine->counters()[Count::fragments_retransmitted], 2 * timeouts);
    net.lose = [](const Network::Packet&) { return false; };
    net.under_way = std::move(waiting);
    net.run(5'000'000);
    EXPECT_TRUE(in == out);
    EXPECT_LE(net[0].engine->counters()[Count::fragments_retransmitted], 2 * timeouts);
    EXPECT_GE(net[0].engine->rail(0, 1).window_bytes, window);
  }
}

TEST_F(EngineTest, AnAcknowledgementWithoutRoomForAllLosesNothing) {
  Options options = defaults();
  options.fragment_bytes = 1328;
  options.window_bytes = 64 << 20;  // more than 64 VFRAGs under way, each with a gap
  Network net(1, options);
  net.traits[0].most_packet_bytes = 1472;
  net.restart(0, 100);
  net.restart(1, 100);
  Bytes out = pattern(64 << 20);
  Bytes in(out.size());
  unsigned data = 0;
  std::uint64_t lost = 0;
  net.lose = [&](const Network::Packet& packet) {
    const bool gone = packet.bytes.size() > 1400 && ++data % 40 == 7;
    lost += gone ? 1U : 0U;
    return gone;
  };
  receive(net[1], in);
  send(net[0], 1, out, 0, SendMode::acknowledged);
  net.run(1'000'000'000);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(net[1].engine->counters()[Count::duplicates], 0U);
  EXPECT_EQ(net[0].engine->counters()[Count::fragments_retransmitted], lost);
}

TEST_F(EngineTest, AcknowledgementsRideOnDataThatGoesTheOtherWay) {
  Network net;
  for (int i = 0; i < 100; ++i) {
    for (const PeerId from : {0U, 1U}) {
      Bytes out = pattern(8);
      Bytes in(8);
      receive(net[1 - from], in);
      send(net[from], 1 - from, out);
      net.settle();
    }
  }
  const Counters& counters = net[0].engine->counters();
  EXPECT_GE(counters[Count::acks_piggybacked], 95U);
  EXPECT_LE(counters[Count::acks_sent] - counters[Count::acks_piggybacked], 5U);
}

TEST_F(EngineTest, TwoRailsShareByBandwidthAndASilentOneIsReplacedWithinThreeTicks) {
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

TEST_F(EngineTest, ARailThatReportsAnErrorIsOutForThatPeerOnly) {
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

TEST_F(EngineTest, APeerThatNoRailReachesIsReportedInBoundedTime) {
  Options options = defaults();
  options.unreachable_after_ns = 500'000'000;
  Network net(2, options);
  Bytes out = pattern(10);
  Bytes in(10);
  send(net[0], 1, out, 1, SendMode::acknowledged);
  net.settle();
  net.lose = [](const Network::Packet&) { return true; };
  send(net[0], 1, out, 2, SendMode::acknowledged);
  send(net[0], 1, out, 3, SendMode::buffered);
  receive(net[0], in, 1, 9);         // only 1 could answer
  receive(net[0], in, any_peer, 9);  // anybody could
  net.run(600'000'000, 1'000'000);
  const auto sends = of_kind(net[0], Completion::Kind::send);
  ASSERT_EQ(sends.size(), 3U);
  EXPECT_EQ(sends[1].outcome, Outcome::ok) << "it was buffered";
  EXPECT_EQ(sends[2].outcome, Outcome::unreachable);
  const auto lost = of_kind(net[0], Completion::Kind::lost);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].message_bytes, 1U);
  const auto receives = of_kind(net[0], Completion::Kind::receive);
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_EQ(receives[0].outcome, Outcome::unreachable);
  EXPECT_GT(net[0].engine->counters()[Count::time_without_rail_ns], 0U);

  // It comes back: the next message reaches it, and nothing of the old ones.
  net.lose = [](const Network::Packet&) { return false; };
  send(net[0], 1, out, 4, SendMode::acknowledged);
  net.run(1'000'000'000, 1'000'000);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::send).back().outcome, Outcome::ok);
}

TEST_F(EngineTest, APeerThatIsAnotherProcessNowFailsWhatWasOnItsWay) {
  Network net;
  Bytes out = pattern(10);
  send(net[0], 1, out, 1, SendMode::acknowledged);
  net.settle();
  for (const std::uint64_t epoch : {1000UL, 3UL}) {  // later, and with its clock set back
    net.lose = [](const Network::Packet&) { return true; };
    net[0].completions.clear();
    send(net[0], 1, out, 2, SendMode::acknowledged);
    net.restart(1, epoch);
    net.lose = [](const Network::Packet&) { return false; };
    net.run(1'000'000'000, 1'000'000);
    ASSERT_EQ(of_kind(net[0], Completion::Kind::send).size(), 1U);
    EXPECT_EQ(of_kind(net[0], Completion::Kind::send)[0].outcome, Outcome::restarted) << epoch;
    Bytes in(10);
    receive(net[1], in, any_peer, 3);
    send(net[0], 1, out, 3, SendMode::acknowledged);
    net.run(100'000'000, 1'000'000);
    EXPECT_TRUE(in == out);
  }
}

TEST_F(EngineTest, ClosingTellsPeersAndEndsEverything) {
  Network net;
  Bytes out = pattern(500000);
  Bytes in(10);
  send(net[0], 1, out, 1, SendMode::acknowledged);
  receive(net[1], in, any_peer, 7);
  net.settle();
  net[1].engine->close(net.now);
  ASSERT_EQ(net[1].completions.size(), 1U);
  EXPECT_EQ(net[1].completions[0].outcome, Outcome::canceled);
  EXPECT_EQ(net[1].engine->objects_in_use(), 0U);
  net.settle();
  ASSERT_EQ(of_kind(net[0], Completion::Kind::send).size(), 1U);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::send)[0].outcome, Outcome::closed);
}

TEST_F(EngineTest, WithoutRoomAtTheReceiverMessagesWaitAtTheSender) {
  Options options = defaults();
  options.eager_credit_bytes = 1000;
  options.message_window = 10;
  Network net(1, options);
  std::vector<Bytes> out;
  for (unsigned i = 0; i < 30; ++i) out.push_back(pattern(400, i));
  for (Bytes& bytes : out) ASSERT_EQ(send(net[0], 1, bytes, 1), Posted::accepted);
  net.run(100'000'000, 1'000'000);
  EXPECT_EQ(net[1].engine->counters()[Count::unexpected_messages], 10U);
  Bytes in(400);
  for (unsigned i = 0; i < 30; ++i) {
    receive(net[1], in, any_peer, 1);
    net.run(200'000'000, 1'000'000);
    ASSERT_EQ(of_kind(net[1], Completion::Kind::receive).size(), i + 1);
    EXPECT_TRUE(in == out[i]) << i;
  }
}

TEST_F(EngineTest, AFullLogSaysAgainAndHasRoomLater) {
  Options options = defaults();
  options.log_bytes = 65536;
  Network net(1, options);
  Bytes out = pattern(40000);
  Bytes in(40000);
  EXPECT_EQ(send(net[0], 1, out), Posted::accepted);
  EXPECT_EQ(send(net[0], 1, out), Posted::again);
  receive(net[1], in);
  net.run(10'000'000);
  EXPECT_EQ(send(net[0], 1, out), Posted::accepted);
  Bytes longer = pattern(65537);
  EXPECT_EQ(send(net[0], 1, longer), Posted::invalid) << "it will never fit";
}

TEST_F(EngineTest, MemoryOfAPendingPutStaysUntilItIsDone) {
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

TEST_F(EngineTest, ARailThatKeepsAPutTooLongIsTakenOut) {
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

TEST_F(EngineTest, ABusyRailIsTriedAgainWhenItIsReadyAndOtherwiseSoon) {
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

TEST_F(EngineTest, AHelloItsAnswerAndAnAcknowledgementThatFoundNoRoomGoWhenThereIs) {
  Network net;
  Bytes out = pattern(10);
  Bytes in(10);
  receive(net[1], in);
  PeerId stuck = 0;
  net.answer = [&](std::uint32_t, PeerId from) { return from == stuck ? Put::busy : Put::done; };
  send(net[0], 1, out);
  EXPECT_EQ(net.under_way.size(), 0U);
  stuck = 1;
  net[0].engine->on_rail_ready(0, net.now);
  EXPECT_EQ(net.under_way.size(), 1U) << "the HELLO, before it is due again";
  net.settle();
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

TEST_F(EngineTest, AClockThatJumpsBreaksNothing) {
  for (const std::int64_t jump : {-3'600'000'000'000, 3'600'000'000'000}) {
    Network net;
    net.now = 7'200'000'000'000;
    Bytes out = pattern(10);
    Bytes in(10);
    receive(net[1], in);
    send(net[0], 1, out, 0, SendMode::acknowledged);
    net.now += jump;
    net.run(10'000'000);
    EXPECT_TRUE(in == out);
    ASSERT_EQ(of_kind(net[0], Completion::Kind::send).size(), 1U);
    EXPECT_EQ(of_kind(net[0], Completion::Kind::send)[0].outcome, Outcome::ok);
    EXPECT_GE(net[0].engine->counters()[Count::clock_jumps], 1U);
  }
}

TEST_F(EngineTest, APeerCostsNothingBeforeItIsSpokenTo) {
  Network net(1, defaults(), 1);
  const std::size_t before = net[0].engine->memory_bytes();
  for (PeerId peer = 0; peer < 10000; ++peer) EXPECT_EQ(net[0].engine->memory_bytes(peer), 0U);
  EXPECT_EQ(net[0].engine->rail(0, 9999).state, RailState::up);
  EXPECT_EQ(net[0].engine->memory_bytes(), before);
}

TEST_F(EngineTest, WritesReadsAndAddsRemotely) {
  for (const std::size_t size : {0UL, 8UL, 4096UL, 300000UL}) {
    Network net;
    net[1].region.assign(400000, std::byte{0});
    Bytes out = pattern(size);
    const iovec from = piece(out);
    const SendMode mode = size % 16 == 0 ? SendMode::buffered : SendMode::acknowledged;
    ASSERT_EQ(net[0].engine->write({.peer = 1,
                                    .pieces = {&from, 1},
                                    .remote = {.address = 64, .key = 77},
                                    .mode = mode,
                                    .has_data = true,
                                    .data = 42},
                                   net.now),
              Posted::accepted);
    net.run(20'000'000);
    ASSERT_EQ(of_kind(net[0], Completion::Kind::write).size(), 1U) << size;
    EXPECT_EQ(of_kind(net[0], Completion::Kind::write)[0].outcome, Outcome::ok);
    ASSERT_EQ(of_kind(net[1], Completion::Kind::remote_write).size(), 1U);
    EXPECT_EQ(of_kind(net[1], Completion::Kind::remote_write)[0].data, 42U);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), net[1].region.begin() + 64));
    Bytes in(size);
    const iovec to = piece(in);
    net[0].engine->read({.peer = 1, .pieces = {&to, 1}, .remote = {.address = 64, .key = 77}}, net.now);
    net.run(20'000'000);
    ASSERT_EQ(of_kind(net[0], Completion::Kind::read).size(), 1U);
    EXPECT_EQ(of_kind(net[0], Completion::Kind::read)[0].bytes, size);
    EXPECT_TRUE(in == out);
    EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
  }
  Network net;
  const std::uint64_t operand = 5;
  std::uint64_t old = 99;
  const iovec result = {&old, sizeof old};
  for (std::uint64_t i = 0; i < 3; ++i) {
    net[0].engine->atomic({.peer = 1,
                           .operands = std::as_bytes(std::span(&operand, 1)),
                           .remote = {.address = 0, .key = 77},
                           .target_bytes = 8,
                           .operation = 1,
                           .results = {&result, 1}},
                          net.now);
    net.run(5'000'000);
    EXPECT_EQ(old, 5 * i);
  }
  EXPECT_EQ(of_kind(net[0], Completion::Kind::atomic).size(), 3U);
  EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
}

TEST_F(EngineTest, RemoteAccessThatIsNotAllowedIsRefused) {
  Network net;
  Bytes bytes(5000);
  const iovec one = piece(bytes);
  const std::uint64_t operand = 5;
  net[0].engine->write({.peer = 1, .pieces = {&one, 1}, .remote = {.address = 0, .key = 77}}, net.now);  // too long
  net[0].engine->read({.peer = 1, .pieces = {&one, 1}, .remote = {.address = 0, .key = 76}}, net.now);   // no such key
  net[0].engine->atomic({.peer = 1,
                         .operands = std::as_bytes(std::span(&operand, 1)),
                         .remote = {.address = 0, .key = 77},
                         .target_bytes = 8,
                         .operation = 2},
                        net.now);
  net.run(20'000'000);
  ASSERT_EQ(net[0].completions.size(), 3U);
  for (const Completion& completion : net[0].completions) EXPECT_EQ(completion.outcome, Outcome::refused);
  EXPECT_EQ(net[0].engine->objects_in_use() + net[1].engine->objects_in_use(), 0U);
}

TEST_F(EngineTest, LossDoesNotRepeatAtomicOperations) {
  Network net;
  unsigned packets = 0;
  net.lose = [&](const Network::Packet&) { return ++packets % 3 == 0; };
  const std::uint64_t operand = 1;
  for (int i = 0; i < 50; ++i) {
    net[0].engine->atomic({.peer = 1,
                           .operands = std::as_bytes(std::span(&operand, 1)),
                           .remote = {.address = 0, .key = 77},
                           .target_bytes = 8,
                           .operation = 1},
                          net.now);
  }
  net.run(2'000'000'000, 1'000'000);
  EXPECT_EQ(of_kind(net[0], Completion::Kind::atomic).size(), 50U);
  std::uint64_t sum = 0;
  std::memcpy(&sum, net[1].region.data(), 8);
  EXPECT_EQ(sum, 50U);
}

}  // namespace
}  // namespace holdfast::transport
