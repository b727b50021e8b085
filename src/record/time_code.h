#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// Durations of a recorded trace with six significant bits: what is left over goes into the next duration of the same
/// column, so that sums stay exact while each takes one or two bytes.
namespace holdfast::record {

inline constexpr unsigned most_time_exponent = 57;
/// Codes are below this.
inline constexpr std::uint64_t time_codes = 64 + (most_time_exponent - 1) * 32 + 32;

/// The duration of a code below time_codes, in nanoseconds.
constexpr std::uint64_t duration_of_code(std::uint64_t code) {
  if (code < 64) return code;
  const std::uint64_t exponent = (code - 64) / 32 + 1;
  return (32 + (code - 64) % 32) << exponent;
}

/// One column of durations.
class TimeColumn {
 public:
  /// The code of `ns` and of what was left over before; negative durations are 0.
  std::uint64_t code(std::int64_t ns) {
    const std::uint64_t value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)) + left_;
    if (value < 64) {
      left_ = 0;
      return value;
    }
    const auto exponent = static_cast<unsigned>(std::bit_width(value)) - 6;
    left_ = value & ((std::uint64_t{1} << exponent) - 1);
    return 64 + std::uint64_t{exponent - 1} * 32 + ((value >> exponent) - 32);
  }

 private:
  std::uint64_t left_ = 0;
};

}  // namespace holdfast::record
