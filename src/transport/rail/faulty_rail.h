#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "core/fault/fault.h"
#include "core/random/stream.h"
#include "transport/rail/rail.h"

namespace holdfast::transport {

/// Wraps any rail and does to the packets that are put on it what the faults say (docs/spec/faults.md): drop,
/// duplicate, reorder, delay, flip (any bit of the packet), corrupt-header (one of its first 64 bytes),
/// kill-rail, which stops what comes in too, and narrow-rail, which loses long packets both ways. Messages are packets
/// here, counted at each fault's place. Faults of other kinds are left to others. One thread, like the rail below.
class FaultyRail : public Rail {
 public:
  /// Which process and rail this is, for the places of the faults.
  struct Place {
    std::uint32_t rank = 0;
    std::uint32_t replica = 0;
    std::uint32_t rail = 0;
  };

  FaultyRail(std::unique_ptr<Rail> below, std::vector<fault::Fault> faults, Place place, random::Stream chance);

  std::span<const std::byte> address() const override { return below_->address(); }
  std::size_t most_packet_bytes() const override { return below_->most_packet_bytes(); }
  double bytes_per_second() const override { return below_->bytes_per_second(); }
  Result<std::uint32_t> add_destination(std::span<const std::byte> address) override {
    return below_->add_destination(address);
  }
  /// Names the rank behind a destination, for faults with a peer.
  void name_destination(std::uint32_t destination, std::uint32_t rank);

  Put put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) override;
  bool came_from(std::uint32_t destination) const override { return below_->came_from(destination); }
  void answer(std::span<const std::byte> address, std::span<const std::byte> packet) override {
    below_->answer(address, packet);
  }
  void flush() override { below_->flush(); }
  std::size_t poll(RailSink& sink, std::int64_t now_ns) override;
  int wait_fd() const override { return below_->wait_fd(); }
  bool may_wait() override { return waiting_.empty() && below_->may_wait(); }
  std::string_view interface() const override { return below_->interface(); }
  bool local_only() const override { return below_->local_only(); }

  /// When poll() will send a packet that a fault delays, at the latest; the caller's time, INT64_MAX for never.
  std::int64_t next_due_ns() const;

  /// How many packets something was done to.
  std::uint64_t struck() const { return struck_; }

 private:
  /// A fault and where it stands.
  struct Armed {
    fault::Fault fault;
    random::Stream chance;
    std::uint64_t messages = 0;
    std::int64_t next_ns = 0;  ///< Mean, Time
    bool spent = false;
  };
  /// A packet that is kept here, until it is sent or the rail below is done with it.
  struct Kept {
    std::uint32_t destination = 0;
    std::vector<std::byte> bytes;
    std::int64_t due_ns = 0;
    bool overtaken = false;  ///< waits for the next packet to its destination
  };
  struct Effects {
    bool drop = false;
    bool reorder = false;
    unsigned copies = 1;
    std::int64_t delay_ns = 0;
    std::vector<std::uint64_t> bits;
  };
  class Sink;

  bool strikes(Armed& armed, std::uint32_t destination);
  bool fits(const fault::Place& place, std::uint32_t destination) const;
  void apply(Armed& armed, std::size_t bytes, Effects& effects);
  void send_kept(std::list<Kept>::iterator packet);
  void send_due();

  std::unique_ptr<Rail> below_;
  std::vector<Armed> armed_;
  Place place_;
  std::vector<std::optional<std::uint32_t>> ranks_;  ///< by destination
  std::list<Kept> waiting_;
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> lent_;  ///< to the rail below, by token
  std::uint64_t next_token_ = std::uint64_t{1} << 63;
  std::int64_t start_ns_ = -1;
  std::int64_t now_ns_ = 0;
  bool killed_ = false;
  std::size_t longest_ = SIZE_MAX;  ///< of the packets that pass
  std::uint64_t struck_ = 0;
};

}  // namespace holdfast::transport
