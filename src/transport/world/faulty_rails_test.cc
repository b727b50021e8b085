// Engines over rails that flip a bit in every fifth packet: what a receive's message has no bytes for is as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/fault/grammar.h"
#include "core/random/stream.h"
#include "transport/engine/engine.h"
#include "transport/engine/planted.h"
#include "transport/rail/faulty_rail.h"
#include "transport/rail/memory_rail.h"

namespace holdfast::transport {
namespace {

constexpr std::size_t nodes = 3;
constexpr PeerId receiver = 2;
constexpr std::byte untouched{0xA5};

/// An engine with one rail. Peers have the numbers of their places in the list.
class Node : public Host, public RailSink {
 public:
  Node(MemoryNetwork& network, PeerId number)
      : rail(network.make_rail(), fault::parse("flip any rate 1/5").value(),
             FaultyRail::Place{.rank = number, .replica = 0, .rail = 0}, random::Stream(7).child(number)) {
    Options options;
    options_table().apply_defaults(options);
    options.fragment_bytes = 512;
    const RailTraits traits{.most_packet_bytes = rail.most_packet_bytes(), .bytes_per_second = 1e9, .checksum = {}};
    const std::byte name{static_cast<unsigned char>(number)};
    Secrets secrets;
    secrets.seed[0] = name;
    engine = std::make_unique<Engine>(options, std::span(&traits, 1), *this, std::span(&name, 1), secrets, now);
  }

  Put put(std::uint32_t, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) override {
    return rail.put(destinations[peer], pieces, token) == Put::done ? Put::done : Put::busy;
  }
  void complete(const Completion& completion) override { completions.push_back(completion); }
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t) override {
    return name.size() == 1 ? std::to_integer<PeerId>(name[0]) : any_peer;
  }
  std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, Access) override { return nullptr; }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return false;
  }

  void on_packet(std::span<const std::byte> packet) override { engine->on_packet(0, packet, now); }
  void on_put_done(std::uint64_t token, bool ok) override { engine->on_put_done(token, ok, now); }
  void on_ready() override { engine->on_rail_ready(0, now); }
  void on_failed(std::uint32_t) override {}
  void on_doubted(std::uint32_t) override {}

  void step(std::int64_t time) {
    now = time;
    rail.poll(*this, now);
    engine->advance(now);
  }

  FaultyRail rail;
  std::int64_t now = 1'000'000;
  std::array<std::uint32_t, nodes> destinations{};
  std::vector<Completion> completions;
  std::unique_ptr<Engine> engine;
};

/// Two nodes send to the third, which takes from anybody. Gives how many receives were changed beyond their messages.
std::size_t changed_beyond() {
  constexpr std::size_t messages = 300;
  constexpr std::size_t capacity = 1000;
  MemoryNetwork network(4096, 4096);
  std::vector<std::unique_ptr<Node>> all;
  for (PeerId number = 0; number < nodes; ++number) all.push_back(std::make_unique<Node>(network, number));
  for (const auto& from : all) {
    for (PeerId to = 0; to < nodes; ++to)
      from->destinations[to] = from->rail.add_destination(all[to]->rail.address()).value();
  }
  std::int64_t now = 1'000'000;
  std::size_t changed = 0;
  random::Stream draw(3);
  std::vector<std::byte> memory(capacity);
  Node& taker = *all[receiver];
  for (std::size_t i = 0; i < messages; ++i) {
    std::fill(memory.begin(), memory.end(), untouched);
    iovec piece = {memory.data(), memory.size()};
    taker.engine->receive({.pieces = {&piece, 1}, .tagged = true}, now);
    std::vector<std::byte> out(draw.chance(1, 2) ? draw.below(20) : draw.below(500));
    for (PeerId from = 0; from < receiver; ++from) {
      const iovec sent = {out.data(), out.size()};
      all[from]->engine->send({.peer = receiver, .pieces = {&sent, 1}, .tagged = true}, now);
      std::fill(out.begin(), out.end(), std::byte{1});
      out.resize(out.size() / 3);
    }
    const auto received = [&] {
      return static_cast<std::size_t>(
          std::count_if(taker.completions.begin(), taker.completions.end(), [](const Completion& each) {
            return each.kind == Completion::Kind::receive && each.outcome == Outcome::ok;
          }));
    };
    while (received() < 1 && now < INT64_MAX / 2) {
      now += 50'000;
      for (const auto& each : all) each->step(now);
    }
    const auto beyond = memory.begin() + static_cast<std::ptrdiff_t>(taker.completions.back().bytes);
    changed += std::all_of(beyond, memory.end(), [](std::byte each) { return each == untouched; }) ? 0 : 1;
    taker.completions.clear();
  }
  return changed;
}

TEST(FaultyRails, NothingIsWrittenBeyondAMessage) {
  EXPECT_EQ(changed_beyond(), 0U);
}

#ifdef HOLDFAST_PLANTED_FAULTS
TEST(PlantedFaults, WritingBeforeTheCheckIsSeen) {
  planted = Planted::write_before_check;
  EXPECT_GT(changed_beyond(), 0U);
  planted = Planted::none;
}
#endif

}  // namespace
}  // namespace holdfast::transport
