#include "simulate/packet/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace holdfast::simulate {

double Samples::relative_half_width(std::int64_t count, double quantile) const {
  if (count < 2 || sum_ == 0) return std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(count);
  const double mean = static_cast<double>(sum_) / n;
  const double variance = std::max(0.0, (squares_ - n * mean * mean) / (n - 1));
  return quantile * std::sqrt(variance / n) / mean;
}

}  // namespace holdfast::simulate
