#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/fault/fault.h"
#include "core/random/stream.h"
#include "simulate/transport/adapter_rail.h"
#include "simulate/transport/datagram_options.h"
#include "transport/engine/engine.h"
#include "transport/rail/faulty_rail.h"

namespace holdfast::simulate {

/// A simulated host: the shipped engine, its rails, and its processor, which handles one packet after another. Times
/// are the network's; the engine's nanoseconds are their whole part.
class Endpoint final : private transport::Host {
 public:
  struct Adapter {
    std::size_t most_packet_bytes = 0;
    double bytes_per_second = 0;
    std::vector<bool> reach;  ///< by endpoint: it has such a rail
  };
  /// `faults` of packets strike what it puts (transport/rail/faulty_rail.h), with the number of the endpoint for the
  /// rank. `endpoints`: how many there are.
  Endpoint(std::uint32_t number, std::uint32_t endpoints, const transport::Options& options,
           const DatagramOptions& datagrams, std::span<const Adapter> adapters, std::span<const fault::Fault> faults,
           const random::Stream& random);

  std::size_t rails() const { return adapters_.size(); }
  AdapterRail& adapter(std::uint32_t rail) { return *adapters_[rail]; }

  /// A packet has come to its memory.
  void arrived(std::uint32_t rail, std::vector<std::byte> packet) { inbox_.push_back({rail, std::move(packet)}); }

  /// Sets the moment for what follows, never back; a processor that slept saw its timers all the same.
  void at(Time now);
  bool is_busy() const { return processor_.free_at > processor_.now; }
  /// The engine sees the packet in hand, finished puts, or its timers: whatever there is first. False: nothing is due.
  bool act();
  /// Takes the next packet into its hand, which takes time. False: there is none.
  bool take_packet();
  /// When act() or take_packet() has something to do, without what comes from outside; not before now.
  Time next_moment() const;

  transport::Posted send(const transport::SendRequest& request);
  transport::Posted receive(const transport::ReceiveRequest& request);
  /// What has finished since the last call.
  std::vector<transport::Completion> take_completions() { return std::exchange(completions_, {}); }

  const transport::Engine& engine() const { return *engine_; }
  std::uint64_t struck() const;
  /// Bytes of packets that wait for the processor.
  std::uint64_t inbox_packets() const { return inbox_.size(); }

 private:
  struct Arrived {
    std::uint32_t rail;
    std::vector<std::byte> bytes;
  };
  class Sink;

  transport::Put put(std::uint32_t rail, transport::PeerId peer, std::span<const iovec> pieces,
                     std::uint64_t token) override;
  void complete(const transport::Completion& completion) override { completions_.push_back(completion); }
  transport::PeerId peer_named(std::span<const std::byte> name, std::uint32_t rail) override;
  std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, transport::Access) override { return nullptr; }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return false;
  }
  std::int64_t now_ns() const { return processor_.now / ps_per_ns; }
  void poll(std::uint32_t rail);
  Time timers_at() const;

  std::uint32_t endpoints_;
  Processor processor_;
  Time receive_overhead_ps_;
  Time receive_byte_ps_;
  std::vector<std::unique_ptr<transport::Rail>> rails_;
  std::vector<AdapterRail*> adapters_;          ///< in rails_, or in what wraps them there
  std::vector<transport::FaultyRail*> faulty_;  ///< which wrap; empty without faults
  std::unique_ptr<transport::Engine> engine_;
  std::deque<Arrived> inbox_;
  std::optional<Arrived> in_hand_;
  std::vector<transport::Completion> completions_;
  std::int64_t engine_ns_ = 0;     ///< the engine's last call
  std::int64_t advanced_ns_ = -1;  ///< its timers' last turn
};

}  // namespace holdfast::simulate
