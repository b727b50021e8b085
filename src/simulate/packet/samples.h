#pragma once

#include <cstdint>

#include "simulate/kernel/time.h"

namespace holdfast::simulate {

/// The consumption bandwidth of one sink in equal samples of time, for the steady-state rule of the paper (section
/// IV-D1): a sink is steady when the confidence interval of its mean bandwidth is narrow. The first sample, in which
/// the network fills, is left out.
class Samples {
 public:
  /// Bytes that were in memory at `at`; never earlier than the call before.
  void add(Time at, std::uint64_t bytes, Time length) {
    if (at >= open_until_) close(at / length, length);
    open_bytes_ += bytes;
  }
  /// Closes the samples that are over at `now`.
  void settle(Time now, Time length) {
    if (now >= open_until_) close(now / length, length);
  }
  /// Samples that are over at `now`, without the first.
  static std::int64_t closed(Time now, Time length) { return now / length - 1; }

  /// Bytes in the samples that are over, without the first. Samples that end after `now` are never in it but for the
  /// few that add() heard of early.
  std::uint64_t bytes() const { return sum_; }
  bool received() const { return sum_ > 0 || open_bytes_ > 0 || past_first_; }

  /// Half the width of the confidence interval of the mean of `count` samples, relative to the mean; `quantile` is
  /// Student's for count - 1 degrees of freedom. Infinite with fewer than 2 samples or nothing received.
  double relative_half_width(std::int64_t count, double quantile) const;

 private:
  void close(std::int64_t index, Time length) {
    if (past_first_) {
      sum_ += open_bytes_;
      squares_ += static_cast<double>(open_bytes_) * static_cast<double>(open_bytes_);
    }
    open_bytes_ = 0;
    past_first_ = index > 0;
    open_until_ = (index + 1) * length;
  }

  Time open_until_ = 0;
  bool past_first_ = false;
  std::uint64_t open_bytes_ = 0;
  std::uint64_t sum_ = 0;
  double squares_ = 0;
};

}  // namespace holdfast::simulate
