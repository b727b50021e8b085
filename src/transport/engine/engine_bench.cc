// What does the protocol cost by itself? Two engines in one thread on a network that only copies each packet once, so
// that what is measured is sending, acknowledging, matching, summing and placing. `memcpy` beside it is what any
// transport pays for moving the same bytes through the same network: into the log, into the packet, out of it.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "transport/engine/engine.h"

namespace {

using namespace holdfast;
using namespace holdfast::transport;

constexpr std::size_t most_packet_bytes = 65536 + 1024;

/// One of two endpoints; puts go into a ring of packets that the other reads.
class End : public Host {
 public:
  Put put(std::uint32_t, PeerId, std::span<const iovec> pieces, std::uint64_t) override {
    if (used_ == ring_.size()) return Put::busy;
    Packet& packet = ring_[(first_ + used_) % ring_.size()];
    packet.bytes = 0;
    for (const iovec& piece : pieces) {
      std::memcpy(packet.memory.data() + packet.bytes, piece.iov_base, piece.iov_len);
      packet.bytes += piece.iov_len;
    }
    ++used_;
    return Put::done;
  }
  void complete(const Completion& completion) override {
    if (completion.kind == Completion::Kind::receive) ++received;
    if (completion.kind == Completion::Kind::send) ++sent;
  }
  PeerId peer_named(std::span<const std::byte>, std::uint32_t) override { return 0; }
  std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, Access) override { return nullptr; }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return false;
  }
  // Hands what was put here to the other end.
  bool deliver(Engine& to, std::int64_t now_ns) {
    if (used_ == 0) return false;
    const Packet& packet = ring_[first_];
    first_ = (first_ + 1) % ring_.size();
    --used_;
    to.on_packet(0, {packet.memory.data(), packet.bytes}, now_ns);
    return true;
  }

  std::uint64_t received = 0;
  std::uint64_t sent = 0;

 private:
  struct Packet {
    std::vector<std::byte> memory = std::vector<std::byte>(most_packet_bytes);
    std::size_t bytes = 0;
  };
  std::vector<Packet> ring_ = std::vector<Packet>(64);
  std::size_t first_ = 0;
  std::size_t used_ = 0;
};

struct Pair {
  explicit Pair(integrity::Checksum checksum, std::uint32_t fragment_bytes = 16384) {
    Options options;
    options_table().apply_defaults(options);
    options.checksum = checksum;
    options.fragment_bytes = fragment_bytes;
    const RailTraits rail = {.most_packet_bytes = most_packet_bytes, .bytes_per_second = 1e10, .checksum = {}};
    const std::byte names[2] = {std::byte{1}, std::byte{2}};
    for (int i = 0; i < 2; ++i) {
      engines[i] =
          std::make_unique<Engine>(options, std::span(&rail, 1), ends[i], std::span(&names[i], 1), Secrets{}, 0);
    }
  }
  void settle() {
    bool some = true;
    while (some) {
      now += 500;
      some = ends[0].deliver(*engines[1], now);
      some = ends[1].deliver(*engines[0], now) || some;
      for (int i = 0; i < 2; ++i) {
        engines[i]->on_rail_ready(0, now);
        if (now >= engines[i]->next_deadline()) engines[i]->advance(now);
      }
    }
  }
  void message(int from, std::span<std::byte> out, std::span<std::byte> in, SendMode mode) {
    const iovec to = {in.data(), in.size()};
    const iovec source = {out.data(), out.size()};
    engines[1 - from]->receive({.pieces = {&to, 1}, .tagged = true, .tag = 1}, now);
    engines[from]->send({.peer = 0, .pieces = {&source, 1}, .mode = mode, .tagged = true, .silent = true, .tag = 1},
                        now);
    settle();
  }

  End ends[2];
  std::unique_ptr<Engine> engines[2];
  std::int64_t now = 0;
};

// One way of a ping-pong: receive posted, sent, carried, matched, acknowledged on the answer.
void ping_pong(benchmark::State& state, integrity::Checksum checksum) {
  Pair pair(checksum);
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> out(size, std::byte{1});
  std::vector<std::byte> in(size);
  int from = 0;
  for (auto _ : state) {
    pair.message(from, out, in, SendMode::buffered);
    from = 1 - from;
  }
  const std::uint64_t received = pair.ends[0].received + pair.ends[1].received;
  if (received != static_cast<std::uint64_t>(state.iterations())) state.SkipWithError("messages are missing");
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// Long messages from the caller's memory.
void stream(benchmark::State& state, integrity::Checksum checksum) {
  Pair pair(checksum, static_cast<std::uint32_t>(state.range(1)));
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> out(size, std::byte{1});
  std::vector<std::byte> in(size);
  for (auto _ : state) pair.message(0, out, in, SendMode::acknowledged);
  if (pair.ends[1].received != static_cast<std::uint64_t>(state.iterations()))
    state.SkipWithError("messages are missing");
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// The same bytes through the same network without a protocol: into packets and out of them.
void copies(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto step = static_cast<std::size_t>(state.range(1));
  std::vector<std::byte> out(size, std::byte{1});
  std::vector<std::byte> in(size);
  std::vector<std::vector<std::byte>> ring(64, std::vector<std::byte>(most_packet_bytes));
  std::size_t place = 0;
  for (auto _ : state) {
    for (std::size_t at = 0; at < size; at += step) {
      const std::size_t bytes = std::min(step, size - at);
      std::byte* packet = ring[place++ % ring.size()].data();
      std::memcpy(packet, out.data() + at, bytes);
      benchmark::ClobberMemory();
      std::memcpy(in.data() + at, packet, bytes);
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// The middle of a star, or one of its points: peers are known by four bytes, their number.
class StarEnd : public Host {
 public:
  using Put4 = std::function<void(std::uint32_t from, PeerId to, std::span<const iovec> pieces)>;
  StarEnd(std::uint32_t number, Put4& carry) : number_(number), carry_(carry) {}
  Put put(std::uint32_t, PeerId peer, std::span<const iovec> pieces, std::uint64_t) override {
    carry_(number_, peer, pieces);
    return Put::done;
  }
  void complete(const Completion& completion) override {
    received += completion.kind == Completion::Kind::receive ? 1 : 0;
  }
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t) override {
    std::uint32_t number = 0;
    std::memcpy(&number, name.data(), std::min(name.size(), sizeof number));
    return number;
  }
  std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, Access) override { return nullptr; }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return false;
  }
  std::uint64_t received = 0;

 private:
  std::uint32_t number_;
  Put4& carry_;
};

// Memory of an engine that has got a message from each of so many peers and sent it one, over two rails: all of it, and
// how much each peer adds.
void memory_of_peers(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  struct Packet {
    std::uint32_t from;
    PeerId to;
    std::vector<std::byte> bytes;
  };
  std::deque<Packet> under_way;
  StarEnd::Put4 carry = [&](std::uint32_t from, PeerId to, std::span<const iovec> pieces) {
    Packet packet{from, to, {}};
    for (const iovec& piece : pieces) {
      const auto* at = static_cast<const std::byte*>(piece.iov_base);
      packet.bytes.insert(packet.bytes.end(), at, at + piece.iov_len);
    }
    under_way.push_back(std::move(packet));
  };
  Options options;
  options_table().apply_defaults(options);
  const std::vector<RailTraits> rails(2, {.most_packet_bytes = 1472, .bytes_per_second = 1e9, .checksum = {}});
  std::vector<std::unique_ptr<StarEnd>> ends;
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::uint32_t i = 0; i <= count; ++i) {
    ends.push_back(std::make_unique<StarEnd>(i, carry));
    engines.push_back(
        std::make_unique<Engine>(options, rails, *ends[i], std::as_bytes(std::span(&i, 1)), Secrets{}, 0));
  }
  std::int64_t now = 0;
  const std::size_t before = engines[0]->memory_bytes();
  std::vector<std::byte> bytes(1000);
  const iovec piece = {bytes.data(), bytes.size()};
  for (auto _ : state) {
    const auto message = [&](std::uint32_t from, std::uint32_t to) {
      engines[to]->receive({.pieces = {&piece, 1}, .peer = from, .tagged = true}, now);
      engines[from]->send({.peer = to, .pieces = {&piece, 1}, .tagged = true, .silent = true}, now);
      while (!under_way.empty()) {
        const Packet packet = std::move(under_way.front());
        under_way.pop_front();
        now += 1000;
        engines[packet.to]->on_packet(0, packet.bytes, now);
      }
    };
    for (std::uint32_t i = 1; i <= count; ++i) {
      message(i, 0);
      message(0, i);
    }
  }
  if (ends[0]->received != count * static_cast<std::uint64_t>(state.iterations())) {
    state.SkipWithError("messages are missing");
  }
  state.counters["KiB"] = static_cast<double>(engines[0]->memory_bytes()) / 1024;
  state.counters["KiB_per_peer"] = static_cast<double>(engines[0]->memory_bytes() - before) / 1024 / count;
  state.counters["KiB_of_one"] = static_cast<double>(engines[0]->memory_bytes(1)) / 1024;
}

BENCHMARK(memory_of_peers)->Arg(1)->Arg(100)->Arg(1000)->Iterations(1);
BENCHMARK_CAPTURE(ping_pong, crc32c, integrity::Checksum::crc32c)->Arg(8)->Arg(1024)->Arg(16384);
BENCHMARK_CAPTURE(ping_pong, none, integrity::Checksum::none)->Arg(8)->Arg(1024)->Arg(16384);
BENCHMARK(copies)->Args({1 << 20, 4096})->Args({1 << 20, 16384})->Args({1 << 20, 65536});
BENCHMARK_CAPTURE(stream, crc32c, integrity::Checksum::crc32c)
    ->Args({1 << 20, 1024})
    ->Args({1 << 20, 4096})
    ->Args({1 << 20, 16384})
    ->Args({1 << 20, 65536});
BENCHMARK_CAPTURE(stream, none, integrity::Checksum::none)
    ->Args({1 << 20, 4096})
    ->Args({1 << 20, 16384})
    ->Args({1 << 20, 65536});

}  // namespace

BENCHMARK_MAIN();
