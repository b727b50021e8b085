#pragma once

#include <algorithm>
#include <cstdint>

namespace holdfast::transport {

/// Turns the caller's time, which may jump, into one that does not: it never goes back, and goes ahead by at most a
/// second at a time. A process that was stopped, or a clock that was set, so does not look like a network that was
/// silent.
class Clock {
 public:
  static constexpr std::int64_t longest_step_ns = 1'000'000'000;

  explicit Clock(std::int64_t caller_ns) : caller_ns_(caller_ns) {}

  /// Takes the caller's time; gives the engine's.
  std::int64_t set(std::int64_t caller_ns) {
    // The difference modulo 2^64: two's complement makes it right for any pair less than 2^63 apart.
    const auto step =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(caller_ns) - static_cast<std::uint64_t>(caller_ns_));
    if (step < 0 || step > longest_step_ns) ++jumps_;
    now_ns_ += std::clamp<std::int64_t>(step, 0, longest_step_ns);
    caller_ns_ = caller_ns;
    return now_ns_;
  }
  std::int64_t now() const { return now_ns_; }
  std::uint64_t jumps() const { return jumps_; }

  /// The caller's time at which the engine's will be `deadline_ns`. Waits of more than a step are cut to one, for the
  /// engine's time will not have gone further by then.
  std::int64_t to_caller(std::int64_t deadline_ns) const {
    const std::int64_t wait = std::min(deadline_ns - now_ns_, longest_step_ns);
    return caller_ns_ > INT64_MAX - longest_step_ns && wait > 0 ? INT64_MAX - 1 : caller_ns_ + wait;
  }

 private:
  std::int64_t caller_ns_;
  std::int64_t now_ns_ = longest_step_ns;  // so that 0 is never a time
  std::uint64_t jumps_ = 0;
};

}  // namespace holdfast::transport
