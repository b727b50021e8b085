#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/status/status.h"
#include "transport/wire/put.h"

/// A rail: one way to carry packets between endpoints, unreliably. What the protocol engine's Host puts packets on.
namespace holdfast::transport {

/// Who hears of what a rail has done; called from inside Rail::poll(). May call Rail::put(), not Rail::poll().
class RailSink {
 public:
  virtual ~RailSink() = default;
  /// A packet has come in; its bytes are valid during the call.
  virtual void on_packet(std::span<const std::byte> packet) = 0;
  virtual void on_put_done(std::uint64_t token, bool ok) = 0;
  /// After `busy`: there is room again.
  virtual void on_ready() = 0;
  /// The rail knows that it does not reach a destination, or any (all_destinations): a packet could not be sent, a link
  /// is down.
  virtual void on_failed(std::uint32_t destination) = 0;
  /// Somebody says so who may be wrong, or lie: an ICMP message, an error that names no packet.
  virtual void on_doubted(std::uint32_t destination) = 0;
};

class Rail {
 public:
  static constexpr std::uint32_t all_destinations = 0xFFFFFFFF;

  virtual ~Rail() = default;

  /// What others reach this end by; the same for the rail's life.
  virtual std::span<const std::byte> address() const = 0;
  virtual std::size_t most_packet_bytes() const = 0;
  /// A first guess at the bandwidth; the engine measures.
  virtual double bytes_per_second() const = 0;

  /// Makes an address a destination, by a number for put(). The same address gives the same number. Error: bad_input,
  /// when it is no address of this kind of rail.
  virtual Result<std::uint32_t> add_destination(std::span<const std::byte> address) = 0;

  /// Sends the pieces, end to end, as one packet. `token`, below 2^63, is named in on_put_done() when the answer is
  /// `pending` or `taken`.
  virtual Put put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) = 0;

  /// Whether the packet that the sink is being handed came from this destination; true where the rail cannot say.
  virtual bool came_from(std::uint32_t /*destination*/) const { return true; }
  /// While the sink is being handed a packet: sends another, copied, to an address that need be no destination, and
  /// keeps nothing for it, so that strangers cost nothing. A rail that knows where the packet came from answers nobody
  /// else. It may be lost.
  virtual void answer(std::span<const std::byte> address, std::span<const std::byte> packet) = 0;

  /// Packets that were put may have been kept back to go together: now they go. Called after each burst of puts.
  virtual void flush() {}

  /// A file descriptor that becomes readable when poll() has something to do, after may_wait() said true; -1: this kind
  /// of rail has none and must be polled.
  virtual int wait_fd() const { return -1; }
  virtual bool may_wait() { return false; }
  /// The network interface that it goes over, by the system's name; empty: unknown, or none.
  virtual std::string_view interface() const { return {}; }
  /// Whether it reaches processes of this host alone.
  virtual bool local_only() const { return false; }

  /// Hands what has happened to `sink`. `now_ns` is the engine's caller's time. Gives how much there was.
  virtual std::size_t poll(RailSink& sink, std::int64_t now_ns) = 0;
};

}  // namespace holdfast::transport
