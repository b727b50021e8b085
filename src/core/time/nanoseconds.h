#pragma once

#include <cstdint>
#include <ctime>
#include <limits>

#include "core/arithmetic/checked.h"

namespace holdfast::time {

/// The kernel's and the program's times as one number of nanoseconds; beyond 2^63 of them (292 years), which a program
/// may well ask to wait for and a file may bear, the type's largest or smallest number. Any thread.
[[nodiscard]] constexpr std::int64_t in_ns(const timespec& time) noexcept {
  const std::int64_t most =
      time.tv_sec < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  const auto seconds = arithmetic::checked_multiply<std::int64_t>(time.tv_sec, 1'000'000'000);
  return seconds ? arithmetic::checked_add<std::int64_t>(*seconds, time.tv_nsec).value_or(most) : most;
}

}  // namespace holdfast::time
