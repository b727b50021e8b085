#pragma once

#include <cstdint>
#include <string>

#include "core/config/table.h"
#include "core/integrity/checksum.h"

namespace holdfast::transport {

/// What a user can set of the protocol (docs/design/transport.md says why each is there).
struct Options {
  std::uint32_t fragment_bytes{};
  integrity::Checksum checksum{};
  std::uint64_t eager_bytes{};
  std::int64_t tick_ns{};
  std::int64_t ack_delay_ns{};
  std::uint32_t ack_packets{};
  std::int64_t least_timeout_ns{};
  std::int64_t most_timeout_ns{};
  std::uint32_t retransmission_limit{};
  std::int64_t local_timeout_ns{};
  std::int64_t unreachable_after_ns{};
  std::int64_t keepalive_ns{};
  std::int64_t probe_interval_ns{};
  std::uint64_t window_bytes{};
  std::uint32_t vfrag_window{};
  std::uint32_t message_window{};
  std::uint64_t eager_credit_bytes{};
  std::uint64_t unexpected_bytes{};
  std::uint64_t log_bytes{};
  std::string secret_file;
};

const config::Table<Options>& options_table();

}  // namespace holdfast::transport
