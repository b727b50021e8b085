#include "simulate/packet/samples.h"

#include <cmath>
#include <limits>

namespace holdfast::simulate {

double normal_quantile(double confidence) {
  // P(|Z| < x) = erf(x / sqrt 2) is monotone: halve the interval until it is as narrow as a double can be.
  double low = 0;
  double high = 40;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2.0)) < confidence ? low : high) = middle;
  }
  return (low + high) / 2;
}

double Samples::relative_half_width(std::int64_t count, double quantile) const {
  if (count < 10 || sum_ == 0) return std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(count);
  const double mean = static_cast<double>(sum_) / n;
  const double variance = std::max(0.0, (squares_ - n * mean * mean) / (n - 1));
  // Student's quantile from the normal one (Abramowitz and Stegun, 26.7.5, two terms).
  const double z = quantile;
  const double nu = n - 1;
  const double student =
      z + (z * z * z + z) / (4 * nu) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * nu * nu);
  return student * std::sqrt(variance / n) / mean;
}

}  // namespace holdfast::simulate
