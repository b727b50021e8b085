#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::plan {

/// How a fragment is checked from end to end.
enum class Check : std::uint8_t { none, internet16, additive32, crc32c, xxh3_64 };

/// In order of length. CRC-32C beats the longer XXH3-64 where errors are few in a fragment, and only there.
inline constexpr std::array checks{Check::none, Check::internet16, Check::additive32, Check::crc32c, Check::xxh3_64};
std::string_view check_name(Check check);

/// A path that corrupts every bit with the same chance, independently, and a protocol that sends messages in fragments
/// and repeats those that arrive corrupt, alone (the VFRAG protocol of "Open MPI DR", section 3.3).
struct Path {
  double bandwidth_bit_per_s = 0;
  double round_trip_s = 0;
  double bit_error_rate = 0;
  double header_bytes = 0;
  double fragment_cost_s = 0;  ///< of the host, for each fragment, not hidden behind the sending
  double garbage_share = 0;    ///< of the corrupt fragments: all their bits are wrong, and not only some
};

/// That at least one of the fragment's bits, header included, is wrong.
double corrupt_chance(const Path& path, double data_bytes);

/// Data that arrive intact in a second, in bit/s, when sending never pauses.
double goodput_bit_per_s(const Path& path, double data_bytes);

/// The data bytes of a fragment (S_max) at which goodput is greatest: (sqrt(H^2 + 4 H / L) - H) / 2 with H the header
/// and the fragment's cost in bytes and L = -8 ln(1 - bit error rate). Infinite without errors. Derivation:
/// docs/design/plan.md.
double best_fragment_bytes(const Path& path);

/// The least power of two up to `most_bytes` (at least 64) whose goodput is 99 % of the greatest of theirs or more.
double enough_power_of_two(const Path& path, double most_bytes);

/// Fragments in flight that keep the path full until the first acknowledgement is back.
double window_fragments(const Path& path, double data_bytes);

/// That a fragment arrives corrupt and its check takes it for good; upper bounds, for independent bit errors:
/// crc32c: no less than 6 errors up to 5,243 bits, no less than 4 beyond, never an odd number (P. Koopman, "32-Bit
/// Cyclic Redundancy Codes for Internet Applications", DSN 2002, Table 1), else one pattern in 2^31 of those left;
/// sums: two errors in one column that cancel (1 in 2 of those pairs); patterns of more errors count as if they were
/// two; xxh3_64: one pattern in 2^64. Of fragments that turned to
/// garbage, garbage_chance() pass.
double undetected_chance(Check check, const Path& path, double data_bytes);

/// That a check takes random bytes for good: one in 2 to the power of its bits.
double garbage_chance(Check check);

}  // namespace holdfast::plan
