#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "simulate/kernel/time.h"
#include "transport/rail/rail.h"

namespace holdfast::simulate {

/// The processor of a host as far as the transport takes it: it does one thing after another.
struct Processor {
  Time overhead_ps = 0;  ///< for each packet that is put
  Time byte_ps = 0;
  Time now = 0;
  Time free_at = 0;

  /// When it has done what takes so long, begun as soon as it can.
  Time spend(Time cost) {
    free_at = (free_at < now ? now : free_at) + cost;
    return free_at;
  }
};

/// A rail over an adapter of a simulated host: what is put waits, copied, until the network takes it; what the network
/// brings waits until poll(). Destinations are endpoints by number. Loses nothing itself.
class AdapterRail final : public transport::Rail {
 public:
  static constexpr std::uint64_t no_token = ~std::uint64_t{0};
  struct Packet {
    std::uint32_t destination = 0;
    std::uint64_t token = no_token;
    Time ready = 0;  ///< when the processor has put it
    std::vector<std::byte> bytes;
  };
  /// `reach`: whether a destination has such a rail.
  AdapterRail(std::uint32_t endpoint, std::size_t most_packet_bytes, double bytes_per_second, std::size_t queue,
              Processor& processor, std::vector<bool> reach);

  std::span<const std::byte> address() const override { return address_; }
  std::size_t most_packet_bytes() const override { return most_packet_bytes_; }
  double bytes_per_second() const override { return bytes_per_second_; }
  Result<std::uint32_t> add_destination(std::span<const std::byte> address) override;
  transport::Put put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) override;
  void answer(std::span<const std::byte> address, std::span<const std::byte> packet) override;
  std::size_t poll(transport::RailSink& sink, std::int64_t now_ns) override;

  /// What waits for the network, in the order of putting.
  std::deque<Packet>& waiting() { return waiting_; }
  /// The network has taken the first of them.
  void left(std::uint64_t token);
  void brought(std::vector<std::byte> packet) { brought_.push_back(std::move(packet)); }
  /// Whether poll() has something to hand over.
  bool has_news() const { return !brought_.empty() || !done_.empty() || (refused_ && waiting_.size() < queue_); }

 private:
  std::array<std::byte, 4> address_{};
  std::size_t most_packet_bytes_;
  double bytes_per_second_;
  std::size_t queue_;
  Processor& processor_;
  std::vector<bool> reach_;
  std::deque<Packet> waiting_;
  std::deque<std::vector<std::byte>> brought_;
  std::vector<std::uint64_t> done_;  ///< tokens
  bool refused_ = false;             ///< a packet, for want of room
};

/// The address of an endpoint, which is its name, too.
std::array<std::byte, 4> address_of(std::uint32_t endpoint);
/// The endpoint of an address; below `count`, or `count` for what is none.
std::uint32_t endpoint_of(std::span<const std::byte> address, std::uint32_t count);

}  // namespace holdfast::simulate
