#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::simulate {

/// Virtual lane arbitration tables (InfiniBand Architecture Specification 1.3, 7.6.9): in each table, a lane may send
/// until the weight of its entry, in blocks of 64 bytes, is used up; then the next entry has its turn.
struct Arbitration {
  struct Entry {
    std::uint8_t lane = 0;
    std::uint8_t weight = 0;  ///< 0: the entry is skipped
    bool operator==(const Entry&) const = default;
  };
  static constexpr std::uint8_t no_limit = 255;

  std::vector<Entry> high;
  std::vector<Entry> low;
  std::uint8_t high_limit = 0;  ///< x 4,096 bytes of high-priority packets before a waiting low one; 0: one packet

  bool operator==(const Arbitration&) const = default;
};

/// Reads "fair" (every lane below `lanes` in turn, a packet each) or "high 1:64, 2:32 limit 1; low 0:32". Error:
/// bad_input.
Result<Arbitration> read_arbitration(std::string_view text, std::uint8_t lanes);

}  // namespace holdfast::simulate
