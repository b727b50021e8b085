// What a stranger, and one who reads the wire, can do to an engine.
#include <gtest/gtest.h>

#include <algorithm>

#include "transport/engine/joined_engines_for_tests.h"
#include "transport/wire/packet.h"

namespace holdfast::transport {
namespace {

constexpr PeerId victim = 0;
constexpr PeerId friendly = 1;

secret::Key some_secret() {
  secret::Key key{};
  key[0] = std::byte{7};
  return key;
}

// A packet with everything right that needs no secret.
Bytes made(const wire::PacketHeader& header, const std::function<void(wire::Writer&)>& fill,
           const Bytes& payload = {}) {
  Bytes buffer(wire::most_data_header_bytes);
  wire::Writer writer(buffer, header);
  fill(writer);
  const auto headers = writer.finish(payload.size());
  Bytes packet(headers.begin(), headers.end());
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

Bytes forged_hello(std::byte name, std::uint64_t identity, std::uint64_t known = 0, std::uint64_t cookie = 0,
                   bool answer = false) {
  return made({.session = 0, .tag = {}}, [&](wire::Writer& writer) {
    wire::HelloFrame hello;
    hello.answer = answer;
    hello.session = 0;
    hello.identity = identity;
    hello.known_identity = known;
    hello.cookie = cookie;
    hello.message_limit = 1000;
    hello.byte_limit = 1 << 20;
    hello.name = {&name, 1};
    writer.add(hello);
  });
}

Bytes forged_data(std::uint32_t session, std::uint64_t key, const Bytes& payload) {
  return made(
      {.session = session, .key = key, .number = 1, .tag = {}},
      [&](wire::Writer& writer) {
        wire::DataFrame data;
        data.flags = wire::DataFrame::flag_tagged;
        data.algorithm = integrity::Checksum::crc32c;
        data.bytes = static_cast<std::uint32_t>(payload.size());
        data.total = payload.size();
        data.checksum = integrity::checksum(data.algorithm, payload);
        writer.add(data);
      },
      payload);
}

wire::Reader read(const Bytes& packet) {
  wire::Reader reader;
  EXPECT_EQ(reader.open(packet), wire::Refusal::none);
  return reader;
}

class Strangers : public EngineTest, public testing::WithParamInterface<bool> {
 protected:
  static std::optional<secret::Key> job() { return GetParam() ? std::optional(some_secret()) : std::nullopt; }
  void feed(Network& net, PeerId to, const Bytes& packet, std::uint32_t rail = 0) {
    net.now += 1000;
    net[to].engine->on_packet(rail, packet, net.now);
  }
  // A message between the two that were there first.
  static void exchange(Network& net, PeerId from, PeerId to, unsigned seed) {
    Bytes sent = pattern(5000, seed);
    Bytes got(5000);
    ASSERT_EQ(receive(net[to], got, from, seed), Posted::accepted);
    ASSERT_EQ(send(net[from], to, sent, seed), Posted::accepted);
    net.run(20'000'000);
    EXPECT_TRUE(sent == got) << seed;
  }
};

// Issue: two HELLOs gave a stranger the key of a session between two others, by the answers and the first epoch that
// was the same towards all.
TEST_P(Strangers, AnAnswerTellsAStrangerNothing) {
  Network net(1, defaults(), 3, job());
  exchange(net, friendly, victim, 1);
  const std::size_t before = net.under_way.size();
  feed(net, victim, forged_hello(std::byte{2}, 999));
  for (std::size_t i = before; i < net.under_way.size(); ++i) {
    const Network::Packet& answer = net.under_way[i];
    EXPECT_FALSE(GetParam()) << "a packet without a tag was answered";
    EXPECT_EQ(answer.to, 2U);
    wire::Reader reader = read(answer.bytes);
    wire::FrameType type{};
    ASSERT_TRUE(reader.next(type));
    EXPECT_EQ(type, wire::FrameType::challenge);
    EXPECT_EQ(reader.challenge().identity, 999U);
    EXPECT_FALSE(reader.next(type));
    EXPECT_LT(answer.bytes.size(), forged_hello(std::byte{2}, 999).size());
  }
}

TEST_P(Strangers, IdentitiesAndKeysAreNotTheSameTowardsTwoPeersOrInTwoSessions) {
  std::vector<std::uint64_t> identities;
  std::vector<std::uint64_t> keys;
  Network net(1, defaults(), 3, job());
  net.lose = [&](const Network::Packet& packet) {
    wire::Reader reader = read(packet.bytes);
    if (reader.header().key != 0) keys.push_back(reader.header().key);
    wire::FrameType type{};
    while (reader.next(type)) {
      if (type == wire::FrameType::hello) identities.push_back(reader.hello().identity);
    }
    return false;
  };
  exchange(net, 0, 1, 1);
  exchange(net, 0, 2, 2);
  net[0].engine->close(net.now);  // one that does not say so is given up for good
  net.settle();
  net.restart(0, 77);
  exchange(net, 0, 1, 3);
  for (std::vector<std::uint64_t>* list : {&identities, &keys}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
    EXPECT_GE(list->size(), 3U);
    for (const std::uint64_t each : *list) EXPECT_GT(each >> 32, 0U) << "no 64 bits";
  }
}

// Issue: HELLOs with rising epochs in a peer's name lost a message and hung the job.
TEST_P(Strangers, ForgedHellosInAPeersNameEndNoSession) {
  Network net(1, defaults(), 2, job());
  exchange(net, friendly, victim, 1);
  for (std::uint64_t identity = 1; identity < 200; ++identity) {
    feed(net, victim, forged_hello(std::byte{friendly}, identity, identity % 3, identity % 5));
    feed(net, victim, forged_hello(std::byte{friendly}, ~identity, 0, 0, true));
    if (identity % 50 == 0)
      exchange(net, identity % 100 == 0 ? friendly : victim, identity % 100 == 0 ? victim : friendly,
               static_cast<unsigned>(identity));
  }
  net.run(50'000'000);
  exchange(net, victim, friendly, 1000);
  EXPECT_EQ(net[victim].engine->counters()[Count::peers_restarted], 0U);
  EXPECT_EQ(net[friendly].engine->counters()[Count::peers_restarted], 0U);
}

// Issue: a wildcard receive took a stranger's message. With a secret whoever has none is nobody.
TEST_F(EngineTest, AStrangerWithoutTheSecretIsNobody) {
  Network net(1, defaults(), 2, some_secret());
  net.nodes.push_back(std::make_unique<Node>(net, 2, net.options, 100, std::nullopt));
  secret::Key other = some_secret();
  other[31] = std::byte{1};
  net.nodes.push_back(std::make_unique<Node>(net, 3, net.options, 100, other));
  Bytes got(100);
  ASSERT_EQ(receive(net[victim], got, any_peer, 0, ~std::uint64_t{0}), Posted::accepted);
  Bytes lie = pattern(100, 9);
  send(net[2], victim, lie);
  send(net[3], victim, lie);
  net.run(200'000'000);
  EXPECT_TRUE(net[victim].completions.empty());
  EXPECT_GT(net[victim].engine->counters()[Count::forged_packets], 0U);
  EXPECT_EQ(net[victim].engine->memory_bytes(2), 0U) << "something is kept for a stranger";
  Bytes truth = pattern(100, 4);
  send(net[friendly], victim, truth);
  net.run(20'000'000);
  EXPECT_EQ(got, truth);
}

// Issue: 160 packets with a key that could be worked out replaced messages of a directed receive.
TEST_P(Strangers, GuessedKeysDeliverNothing) {
  Network net(1, defaults(), 2, job());
  exchange(net, friendly, victim, 1);
  Bytes got(100);
  ASSERT_EQ(receive(net[victim], got, friendly, 0, ~std::uint64_t{0}), Posted::accepted);
  const std::size_t told = net[victim].completions.size();
  for (std::uint64_t guess = 1; guess < 500; ++guess) {
    feed(net, victim, forged_data(friendly, guess, pattern(100, 9)));
    feed(net, victim, forged_data(friendly, wire::session_key(guess, 100), pattern(100, 9)));
  }
  EXPECT_EQ(net[victim].completions.size(), told);
}

// One who reads the wire, and sends again what it saw: at once, later, back to its sender, on another rail, changed.
TEST_F(EngineTest, WithASecretNothingThatWasOnTheWireHelpsAnEnemy) {
  Network net(2, defaults(), 2, some_secret());
  std::vector<Network::Packet> seen;
  net.lose = [&](const Network::Packet& packet) {
    seen.push_back(packet);
    return false;
  };
  unsigned messages = 0;
  std::deque<Bytes> kept;  // what receives that are posted write to
  const auto exchange = [&](PeerId from, PeerId to) {
    Bytes sent = pattern(3000, ++messages);
    Bytes& got = kept.emplace_back(3000);
    ASSERT_EQ(receive(net[to], got, any_peer, 0, ~std::uint64_t{0}), Posted::accepted);
    ASSERT_EQ(send(net[from], to, sent, messages), Posted::accepted);
    net.run(10'000'000);
    EXPECT_TRUE(sent == got) << messages;
  };
  const auto attack = [&] {
    const std::vector<Network::Packet> old = seen;
    for (const Network::Packet& packet : old) {
      for (const PeerId to : {packet.to, packet.from}) {
        for (const std::uint32_t rail : {0U, 1U}) net[to].engine->on_packet(rail, packet.bytes, ++net.now);
      }
      for (const std::size_t at : {7UL, 12UL, 16UL, 32UL, 40UL, 56UL, 60UL, packet.bytes.size() - 1}) {
        Bytes changed = packet.bytes;
        changed[at] ^= std::byte{1};
        std::uint16_t headers = 0;  // the check is put right: it needs no secret
        std::memcpy(&headers, changed.data() + 4, sizeof headers);
        const std::uint32_t check = wire::check_of_headers(std::span(changed).first(headers));
        std::memcpy(changed.data() + 8, &check, sizeof check);
        net[packet.to].engine->on_packet(packet.rail, changed, ++net.now);
      }
    }
  };
  for (int i = 0; i < 3; ++i) exchange(0, 1), exchange(1, 0);
  attack();
  exchange(0, 1);
  exchange(1, 0);
  net[1].engine->close(net.now);
  net.settle();
  net.restart(1, 500);  // and what was seen of the session before is sent into the next
  exchange(1, 0);
  exchange(0, 1);
  attack();
  net.run(100'000'000);
  exchange(1, 0);
  exchange(0, 1);
  for (const PeerId node : {0U, 1U}) {
    for (const Completion& completion : net[node].completions) EXPECT_EQ(completion.outcome, Outcome::ok);
    EXPECT_GT(net[node].engine->counters()[Count::forged_packets], 0U);
    EXPECT_GT(net[node].engine->counters()[Count::replayed_packets], 0U);
  }
  for (const PeerId node : {0U, 1U}) {
    EXPECT_EQ(net[node].engine->counters()[Count::peers_restarted], 0U);
    EXPECT_EQ(net[node].engine->counters()[Count::peers_given_up], 0U);
  }
}

// A world found this: an enemy sent one process's HELLO to another, and the cookie came back in the next.
TEST_F(EngineTest, WithASecretAHelloForOnePeerIsOfNoUseAtAnother) {
  Network net(1, defaults(), 3, some_secret());
  exchange_once(net);
  net.lose = [&](const Network::Packet& packet) {
    if (packet.from == friendly && packet.to == 2) net.under_way.push_back({friendly, victim, 0, packet.bytes});
    return false;
  };
  Bytes sent = pattern(100);
  Bytes got(100);
  ASSERT_EQ(receive(net[2], got), Posted::accepted);
  ASSERT_EQ(send(net[friendly], 2, sent), Posted::accepted);
  net.run(50'000'000);
  EXPECT_TRUE(sent == got);
  EXPECT_EQ(net[victim].engine->counters()[Count::peers_restarted], 0U);
  exchange_once(net);
}

// A HELLO with a cookie that was good once does not bring an earlier process back.
TEST_P(Strangers, AnIdentityThatWasReplacedStaysSo) {
  Network net(1, defaults(), 2, job());
  std::vector<Bytes> hellos;
  net.lose = [&](const Network::Packet& packet) {
    wire::Reader reader = read(packet.bytes);
    wire::FrameType type{};
    if (packet.from == friendly && reader.next(type) &&
        (type == wire::FrameType::hello || type == wire::FrameType::hello_answer))
      hellos.push_back(packet.bytes);
    return false;
  };
  exchange(net, friendly, victim, 1);
  net[friendly].engine->close(net.now);
  net.settle();
  net.restart(friendly, 500);
  exchange(net, friendly, victim, 2);
  for (const Bytes& hello : hellos) feed(net, victim, hello);
  net.run(50'000'000);
  EXPECT_EQ(net[victim].engine->counters()[Count::peers_restarted], 0U);
  exchange(net, victim, friendly, 3);
}

// Issue: 40,000 forged HELLOs raised the memory from 19 to 57 MB.
TEST_P(Strangers, FortyThousandForgedHellosCostNoMemory) {
  class Crowd : public Host {
   public:
    Put put(std::uint32_t, PeerId, std::span<const iovec>, std::uint64_t) override { return Put::done; }
    void complete(const Completion&) override {}
    PeerId peer_named(std::span<const std::byte>, std::uint32_t) override { return ++made; }
    PeerId find_peer(std::span<const std::byte>, std::uint32_t) override { return any_peer; }
    void answer_stranger(std::uint32_t, std::span<const std::byte>, std::span<const std::byte>) override { ++answers; }
    std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, Access) override { return nullptr; }
    bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
      return false;
    }
    PeerId made = 0;
    std::size_t answers = 0;
  };
  Crowd host;
  Secrets secrets;
  secrets.job = job();
  const RailTraits rail{.most_packet_bytes = 1500, .bytes_per_second = 1e9, .checksum = {}};
  Engine engine(defaults(), {&rail, 1}, host, {}, secrets, 0);
  std::size_t before = 0;
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    Bytes name(64);
    std::memcpy(name.data(), &i, sizeof i);
    const Bytes hello = made({}, [&](wire::Writer& writer) {
      wire::HelloFrame frame;
      frame.identity = i + 1;
      frame.cookie = i % 7;
      frame.name = name;
      writer.add(frame);
    });
    engine.on_packet(0, hello, static_cast<std::int64_t>(i));
    if (i == 100) before = engine.memory_bytes();
  }
  EXPECT_EQ(engine.memory_bytes(), before);
  EXPECT_EQ(host.made, 0U);
  EXPECT_EQ(host.answers, GetParam() ? 0U : 40'000U);
}

// Where nobody has a secret, what comes from another place than the peer's is not from the peer.
TEST_F(EngineTest, WithoutASecretPacketsMustComeFromWhereThePeerIs) {
  Network net(1);
  exchange_once(net);
  net[victim].elsewhere = true;
  Bytes lie = pattern(100, 5);
  Bytes got(100);
  ASSERT_EQ(receive(net[victim], got, friendly, 0, ~std::uint64_t{0}), Posted::accepted);
  send(net[friendly], victim, lie, 5);
  net.run(5'000'000);
  EXPECT_NE(got, lie);
  EXPECT_GT(net[victim].engine->counters()[Count::forged_packets], 0U);
  net[victim].elsewhere = false;
  net.run(50'000'000);
  EXPECT_EQ(got, lie);
}

// Processors that differ agree on what both can do.
TEST_F(EngineTest, AProcessorWithoutInstructionsForAesSpeaksToOneThatHasThem) {
  Network net(1, defaults(), 0, some_secret());
  for (const bool aes : {true, false}) {
    net.aes = aes;
    net.add_node();
  }
  exchange_once(net);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutASecret, Strangers, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "WithASecret" : "WithoutASecret"; });

}  // namespace
}  // namespace holdfast::transport
