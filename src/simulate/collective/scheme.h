#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/status/status.h"
#include "simulate/kernel/time.h"

/// What is simulated: the operation, how its packets are protected, and what the hardware costs.
namespace holdfast::simulate::collective {

enum class Operation : std::uint8_t { allreduce, reduce, broadcast, barrier };
inline constexpr std::array<std::string_view, 4> operation_names = {"allreduce", "reduce", "broadcast", "barrier"};

/// What operands are, little-endian in the packet: unsigned 64-bit integers, or IEEE 754 numbers, two of single
/// precision in a word of 64 bits. Sums of the latter are rounded at every switch, in the order in which its children's
/// come in, so that they depend on it.
enum class Operand : std::uint8_t { integer, single_precision, double_precision };
inline constexpr std::array<std::string_view, 3> operand_names = {"integer", "single", "double"};

/// How operands are combined.
enum class Combine : std::uint8_t { sum, minimum, maximum };
inline constexpr std::array<std::string_view, 3> combine_names = {"sum", "min", "max"};

/// How a lost packet is made up for.
enum class Protection : std::uint8_t {
  retransmission,  ///< one copy; the receiver asks for it again (InfiniBand's acknowledgements between switches)
  temporal,        ///< `copies` back to back through one port
  spatial,         ///< one copy through each of `copies` ports, to as many switches; adapters split their port
  hybrid,          ///< temporal between adapters and their switch, spatial above
  link_retry,      ///< one copy; each link repeats what it corrupted before the switch sees it, as today's networks do
};
inline constexpr std::array<std::string_view, 5> protection_names = {"retransmission", "temporal", "spatial", "hybrid",
                                                                     "link-retry"};

struct Scheme {
  Protection protection = Protection::temporal;
  std::uint8_t copies = 2;  ///< at least 1, at most most_copies; 1 where the protection has no copies
  /// Spatial: adapters have `copies` ports at full rate, with a cable each to the same switch, instead of one that is
  /// split. Cables have their own errors, and fail one by one.
  bool dual_port = false;
  /// On the way down a switch makes as many good copies as its links carry from the first good one that it has got.
  /// Without, as in the paper, each copy that comes in is forwarded as one copy.
  bool regenerate = false;
  bool operator==(const Scheme&) const = default;
};
inline constexpr std::uint8_t most_copies = 8;

/// Which links of the spatial scheme run at 1 / copies of the rate.
enum class NarrowLinks : std::uint8_t {
  adapter_up,  ///< adapters' links, towards the switch: the reduction alone pays
  adapter,     ///< adapters' links, both ways: what splitting a port means
  all,         ///< every link
};
inline constexpr std::array<std::string_view, 3> narrow_links_names = {"adapter-up", "adapter", "all"};

/// What the paper leaves open, and what hardware costs. The defaults are argued in docs/design/fabric-collectives.md.
struct Assumptions {
  std::uint32_t mtu_bytes = 256;
  bool headers_count = false;  ///< 26 bytes of headers and checksums a packet
  /// Duration of a byte on a whole link: 4X SDR carries 8 Gbit/s of data (1,000 ps) at 10 Gbit/s of signals (800 ps).
  Time byte_ps = 1000;
  Time adapter_delay_ps = 100 * ps_per_ns;
  Time switch_delay_ps = 100 * ps_per_ns;
  Time cable_delay_ps = 0;  ///< one way, every cable
  NarrowLinks narrow_links = NarrowLinks::adapter;
  /// Lanes of an adapter's port, which spatial replication splits evenly: 4 of a 4X port. The rate of the whole port is
  /// byte_ps, however many there are.
  std::uint32_t port_lanes = 4;
  std::uint32_t nak_bytes = 30;
  std::uint32_t nak_delays = 5;  ///< switch delays between the negative acknowledgement's arrival and the repetition
  std::uint32_t timeout_exponent = 0;    ///< the local timeout is 4.096 us x 2^n
  std::uint32_t retry_limit = 7;         ///< repetitions after timeouts before a link is given up
  Time link_retry_ps = 200 * ps_per_ns;  ///< link retry: from a corrupted packet's end to its repetition's begin
  std::uint32_t window_segments = 64;    ///< segments that a sender may have unacknowledged: the receive buffers
  bool operator==(const Assumptions&) const = default;
};

/// The local acknowledgement timeout (InfiniBand Architecture Specification 1.3, 9.7.6.1.3).
inline Time timeout_ps(const Assumptions& assumptions) {
  return 4'096'000LL << assumptions.timeout_exponent;
}

/// Bytes on the wire of a data packet with this payload. Without headers an empty packet still lasts as long as one
/// word of operands, 8 bytes.
inline std::int64_t wire_bytes(const Assumptions& assumptions, std::int64_t payload_bytes) {
  if (assumptions.headers_count) return payload_bytes + 26;
  return payload_bytes == 0 ? 8 : payload_bytes;
}

/// Error (bad_input): numbers out of bounds, or that contradict each other.
Status check(const Scheme& scheme, const Assumptions& assumptions);

/// "temporal x2", "spatial x4 (dual port)".
std::string describe(const Scheme& scheme);

}  // namespace holdfast::simulate::collective
