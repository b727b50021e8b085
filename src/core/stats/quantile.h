#pragma once

#include <span>

#include "core/status/status.h"

namespace holdfast::stats {

/// The value below which the share `p` of [0, 1] of the numbers lies, linear between neighbours: definition 7 of
/// R. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50(4), 1996 (what R and
/// NumPy give by default). Copies and sorts, O(n log n). Errors (bad_input): no numbers, a NaN, p outside [0, 1].
/// Any thread.
Result<double> quantile(std::span<const double> values, double p);

/// quantile(values, 0.5).
Result<double> median(std::span<const double> values);

}  // namespace holdfast::stats
