#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/engine/engine.h"

/// Engines joined by a network in a test's hands. Included by this folder's tests only.
namespace holdfast::transport {

using Bytes = std::vector<std::byte>;

inline Bytes pattern(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  std::uint32_t state = seed * 2654435761U + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

inline iovec piece(Bytes& bytes) {
  return {bytes.data(), bytes.size()};
}

inline Options defaults() {
  Options options;
  options_table().apply_defaults(options);
  return options;
}

class Network;

/// One endpoint. Its name is one byte, which is its number and its PeerId at everyone.
class Node : public Host {
 public:
  /// `life`: another for each engine of this number. `job`: what the nodes share, if anything.
  Node(Network& network, PeerId number, const Options& options, std::uint64_t life, std::optional<secret::Key> job);

  Put put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) override;
  void complete(const Completion& completion) override { completions.push_back(completion); }
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t) override {
    return name.size() == 1 ? std::to_integer<PeerId>(name[0]) : any_peer;
  }
  bool comes_from(PeerId, std::uint32_t) override { return !elsewhere; }
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
  bool take_puts = false;  ///< kept, and their memory is free
  bool elsewhere = false;  ///< what comes in is not from where its sender is
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

  explicit Network(std::size_t rails = 1, Options chosen = defaults(), std::size_t count = 2,
                   std::optional<secret::Key> secret = {})
      : options(chosen),
        job(secret),
        traits(rails, RailTraits{.most_packet_bytes = 1 << 20, .bytes_per_second = 1e9, .checksum = {}}) {
    for (std::size_t i = 0; i < count; ++i) add_node();
  }

  Node& add_node() {
    nodes.push_back(std::make_unique<Node>(*this, static_cast<PeerId>(nodes.size()), options, 100, job));
    return *nodes.back();
  }
  void restart(PeerId number, std::uint64_t life) {
    nodes[number] = std::make_unique<Node>(*this, number, options, life, job);
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
  std::optional<secret::Key> job;
  bool aes = wire::has_aes_instructions();  ///< of nodes that are added
  std::vector<RailTraits> traits;
  std::vector<std::unique_ptr<Node>> nodes;
  std::deque<Packet> under_way;
  std::function<bool(const Packet&)> lose = [](const Packet&) { return false; };
  std::function<void(Packet&)> spoil = [](Packet&) {};
  std::function<void(PeerId from, std::span<const iovec>)> peek_put = [](PeerId, std::span<const iovec>) {};
  std::function<Put(std::uint32_t rail, PeerId from)> answer = [](std::uint32_t, PeerId) { return Put::done; };
  std::int64_t now = 1'000'000;
};

inline Node::Node(Network& net, PeerId id, const Options& options, std::uint64_t life, std::optional<secret::Key> job)
    : network(net), number(id) {
  Secrets secrets;
  secrets.job = job;
  secrets.aes = net.aes;
  std::memcpy(secrets.seed.data(), &life, sizeof life);
  std::memcpy(secrets.seed.data() + sizeof life, &id, sizeof id);
  const std::byte name{static_cast<unsigned char>(id)};
  engine = std::make_unique<Engine>(options, net.traits, *this, std::span(&name, 1), secrets, net.now);
}

inline Put Node::put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) {
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
  if (!keep_puts && !take_puts) return Put::done;
  pending.push_back(token);
  return take_puts ? Put::taken : Put::pending;
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
  // A message of 5,000 bytes from node 1 to node 0.
  static void exchange_once(Network& net) {
    Bytes sent = pattern(5000, 21);
    Bytes got(5000);
    ASSERT_EQ(receive(net[0], got, 1, 21), Posted::accepted);
    ASSERT_EQ(send(net[1], 0, sent, 21), Posted::accepted);
    net.run(20'000'000);
    EXPECT_EQ(sent, got);
  }
  static std::vector<Completion> of_kind(const Node& node, Completion::Kind kind) {
    std::vector<Completion> found;
    for (const Completion& completion : node.completions) {
      if (completion.kind == kind) found.push_back(completion);
    }
    return found;
  }
};

}  // namespace holdfast::transport
