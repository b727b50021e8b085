#pragma once

#include <cstdint>
#include <span>

#include "core/stats/moments.h"
#include "core/status/status.h"

namespace holdfast::stats {

/// Two ends between which a quantity lies with the confidence that was asked for.
struct Interval {
  double low = 0;
  double high = 0;
  bool holds(double value) const { return low <= value && value <= high; }
};

/// `confidence` is the probability that the interval covers the true value, such as 0.95, strictly between 0 and 1.
/// Errors (bad_input) everywhere: another confidence, too few numbers. Any thread.

/// Of a mean, by Student's t with count - 1 degrees of freedom: exact for normal numbers, good for means of many.
/// At least two numbers.
Result<Interval> mean_interval(const Moments& moments, double confidence);

/// Of a probability, from successes among trials: exact, never too narrow (C. Clopper and E. Pearson, Biometrika 26(4),
/// 1934). At least one trial.
Result<Interval> proportion_interval(std::uint64_t successes, std::uint64_t trials, double confidence);

/// Of a median, by order statistics: makes no assumption on the distribution. Too few numbers for the confidence (below
/// 6 for 0.95) are an error.
Result<Interval> median_interval(std::span<const double> values, double confidence);

}  // namespace holdfast::stats
