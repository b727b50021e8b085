#pragma once

#include <sys/time.h>
#include <time.h>

#include <cstdint>
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

/// The same of a time whose microseconds are a second and more, too, as select(2) takes it.
[[nodiscard]] constexpr std::int64_t in_ns(const timeval& time) noexcept {
  const std::int64_t more = in_ns(timespec{time.tv_usec / 1'000'000, time.tv_usec % 1'000'000 * 1000});
  const std::int64_t seconds = in_ns(timespec{time.tv_sec, 0});
  const std::int64_t most =
      seconds < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  return arithmetic::checked_add(seconds, more).value_or(most);
}

}  // namespace holdfast::time
