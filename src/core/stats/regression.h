#pragma once

#include <cstdint>
#include <span>

#include "core/status/status.h"

namespace holdfast::stats {

/// A straight line y = intercept + slope x, and how well it says what was measured.
struct Line {
  double intercept = 0;
  double slope = 0;
  double r2 = 0;               ///< share of y's variance that x explains; 0 when y does not vary
  double slope_error = 0;      ///< standard error; NaN for two points
  double intercept_error = 0;  ///< standard error; NaN for two points
  std::uint64_t count = 0;

  double at(double x) const { return intercept + slope * x; }
};

/// Ordinary least squares of y on x, two passes about the means. The spans are paired and equally long. Errors
/// (bad_input): unequal lengths, fewer than two points, all x equal, a number that is not finite. Any thread.
Result<Line> fit_line(std::span<const double> x, std::span<const double> y);

}  // namespace holdfast::stats
