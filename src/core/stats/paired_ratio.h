#pragma once

#include <cstdint>
#include <span>

#include "core/stats/confidence.h"
#include "core/status/status.h"

namespace holdfast::stats {

/// How one thing's measurements compare with a peer's that were taken beside them.
struct PairedRatio {
  double ratio_of_medians = 0;  ///< median(mine) / median(peer): what a user of either sees
  double median_of_ratios = 0;  ///< of mine[i] / peer[i]: what is left when a shared machine slows both of a pair
  bool has_interval = false;    ///< enough pairs for the confidence
  Interval interval;            ///< of the median of ratios, by order statistics
  std::uint64_t pairs = 0;
};

/// Compares paired measurements, all > 0. Errors (bad_input): no pairs, unequal lengths, a number that is not finite
/// and positive, a confidence outside (0, 1). Any thread.
Result<PairedRatio> paired_ratio(std::span<const double> mine, std::span<const double> peer, double confidence = 0.95);

}  // namespace holdfast::stats
