#pragma once

#include <cstdint>

#include "core/config/table.h"

namespace holdfast::simulate {

/// How simulated hosts send the transport's packets, one option row each.
struct DatagramOptions {
  std::uint32_t rails{};
  std::uint32_t queue{};
  std::uint32_t ahead{};
  std::int64_t send_overhead_ns{};
  std::int64_t receive_overhead_ns{};
  std::int64_t send_byte_ps{};
  std::int64_t receive_byte_ps{};
};

/// Component "datagram".
const config::Table<DatagramOptions>& datagram_table();

/// What a datagram has besides the headers of every packet, DETH: its queue keys (InfiniBand Architecture Specification
/// 1.3, 9.3.1, from memory). It is counted as payload, so that a datagram carries so much less than the MTU.
inline constexpr std::uint32_t datagram_header_bytes = 8;

}  // namespace holdfast::simulate
