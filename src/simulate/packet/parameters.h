#pragma once

#include <cstdint>
#include <string>

#include "core/config/table.h"
#include "core/status/status.h"
#include "fabric/topology/fabric.h"
#include "simulate/kernel/time.h"

namespace holdfast::simulate {

/// Flow control and buffers count in blocks of 64 bytes, which are also the model's flits (InfiniBand Architecture
/// Specification 1.3, 7.9.4.1).
inline constexpr std::uint32_t flit_bytes = 64;

/// LRH 8, BTH 12, ICRC 4, VCRC 2: what an unreliable-connection packet has besides its payload (paper, section IV-B).
inline constexpr std::uint32_t header_bytes = 26;

inline constexpr std::uint32_t flits_of(std::uint32_t bytes) {
  return (bytes + flit_bytes - 1) / flit_bytes;
}

/// How long something takes that moves bytes at an even speed. The speed is held as the time of one flit, rounded up to
/// whole picoseconds (at most 0.4 % slow, at 12X XDR; exact for 4X but FDR, 0.004 %), and a part of a flit takes its
/// share, rounded up.
struct Pace {
  Time flit_ps = 0;
  Time of(std::uint64_t bytes) const {
    return static_cast<Time>((static_cast<std::uint64_t>(flit_ps) * bytes + flit_bytes - 1) / flit_bytes);
  }
};

/// Data rate after encoding: 8b/10b for SDR to QDR, 64b/66b for FDR10 to EDR, and what HDR, NDR and XDR leave after
/// forward error correction (IBTA roadmap; InfiniBand Architecture Specification 1.6, volume 2, 5.2).
Pace link_pace(fabric::LinkRate rate);

/// 2.5 and 5 GT/s with 8b/10b, 8 to 32 GT/s with 128b/130b, a direction (PCI Express Base Specification 5.0, 4.2), 64
/// GT/s in flits of 256 bytes with 236 of packets (6.0, 4.2.3). generation 1 to 6, lanes 1 to 32.
Pace pcie_pace(std::uint32_t generation, std::uint32_t lanes);

/// How the packets of an input buffer (one virtual lane of a port) wait.
enum class InputQueues : std::uint8_t {
  lane,    ///< in one queue, whose head blocks what is behind it
  output,  ///< in a queue for every output port (virtual output queues)
};

/// The model's parameters, one option row each (docs/design/simulator.md says where the defaults come from).
struct Parameters {
  std::uint32_t mtu{};
  std::uint32_t input_buffer{};   ///< 0: by generation, settle()
  std::uint32_t output_buffer{};  ///< so
  InputQueues input_queues{};
  std::uint32_t input_sends{};  ///< 0: as many as there are outputs
  std::uint32_t crossbar_speedup{};
  std::int64_t switch_latency_ns{};
  double link_slowdown{};
  double cable_length{};
  std::int64_t propagation_ps{};
  std::uint32_t pcie_generation{};  ///< so
  std::uint32_t pcie_lanes{};       ///< so
  std::int64_t hiccup_period_ns{};
  std::int64_t hiccup_ns{};
  std::int64_t credit_update_ns{};
  std::uint32_t hoq_life{};
  std::uint32_t vl_stall{};
  std::string vl_arbitration;
  std::uint32_t ack_timeout{};
  std::uint32_t retry_count{};
  std::int64_t ack_delay_ns{};
  std::uint32_t hop_limit{};
  std::int64_t deadlock_check_ns{};
  std::int64_t sample_ns{};
  double confidence{};
  double steady_hosts{};
  double steady_width{};

  /// What a link of this rate takes, slowed down as asked for.
  Pace link_pace(fabric::LinkRate rate) const;
  /// How long a packet may stand at the head of its queue: 4.096 us x 2^hoq_life, `never` from 20 on (InfiniBand
  /// Architecture Specification 1.3, 18.2.5.4).
  Time hoq_life_ps() const;
  /// How long a reliable connection waits for an acknowledgement: 4.096 us x 2^ack_timeout, `never` for 0 (9.7.6.1.3).
  Time ack_timeout_ps() const;
};

/// The same with what was left to the generation (0) chosen: buffers for the fastest link of the fabric, PCI Express
/// for its fastest adapter; as QDR where there are none. docs/design/simulator.md has the table and where it comes
/// from.
Parameters settle(Parameters parameters, const fabric::Fabric& fabric);

/// Component "simulate".
const config::Table<Parameters>& parameters_table();

/// What one row cannot see: that a packet fits the buffers, that a hiccup is shorter than its period, that the
/// arbitration text can be read. Error: bad_input.
Status check(const Parameters& parameters);

}  // namespace holdfast::simulate
