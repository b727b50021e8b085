#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/kernel/time.h"

namespace holdfast::simulate::job {

/// What a rank does at a moment.
enum class Activity : std::uint8_t {
  computing,   ///< between its calls
  message,     ///< in a call for messages, windows or files, waiting or at work
  collective,  ///< in a collective, or waiting for one
};
inline constexpr std::size_t activities = 3;

/// How ranks spent a run whose length is not known before, in a fixed number of equal bins: when the run outgrows them,
/// pairs of bins are joined, so that memory stays rows x bins x 24 bytes. One thread.
class Timeline {
 public:
  Timeline(std::size_t rows, std::size_t bins);  ///< bins: even, above 0

  /// Row `row` did this from `begin` to `end`; time that nobody adds is nothing. Intervals of a row do not overlap.
  void add(std::size_t row, Activity activity, Time begin, Time end);

  std::size_t rows() const { return times_.size() / (bins_ * activities); }
  std::size_t bins() const { return bins_; }
  Time bin_ps() const { return bin_ps_; }
  /// Of the bin's time, 0 to 1.
  double share(std::size_t row, std::size_t bin, Activity activity) const;

 private:
  Time& at(std::size_t row, std::size_t bin, Activity activity);
  void widen();

  std::size_t bins_;
  Time bin_ps_ = 1'000;
  std::vector<Time> times_;
};

}  // namespace holdfast::simulate::job
