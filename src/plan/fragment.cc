#include "plan/fragment.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace holdfast::plan {
namespace {

// What a fragment costs besides its data, in bytes of the path.
double overhead_bytes(const Path& path) {
  return path.header_bytes + path.fragment_cost_s * path.bandwidth_bit_per_s / 8;
}

double log_binomial(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// That exactly k of n bits are wrong.
double exactly(double n, double k, double p) {
  return std::exp(log_binomial(n, k) + k * std::log(p) + (n - k) * std::log1p(-p));
}

// That at least two of n bits are wrong, without a difference of near numbers.
double two_or_more(double n, double p) {
  if (n * p > 0.1) return std::max(0.0, 1 - exactly(n, 0, p) - exactly(n, 1, p));
  double sum = 0;
  for (double k = 2; k <= std::min(n, 40.0); ++k) sum += exactly(n, k, p);
  return sum;
}

// That an even number of bits, and at least `least` of them, are wrong.
double even_errors(double n, double least, double p) {
  const double expected = n * p;
  if (expected > 100) return 0.5;  // the few that are left out would make it smaller
  double sum = 0;
  for (double k = least; k <= std::min(n, least + 400); k += 2) sum += exactly(n, k, p);
  return sum;
}

double sum_undetected(double n, double column_bits, double p) {
  const double words = std::max(n / column_bits, 1.0);
  // opposite values in one column; in the topmost one of a sum that drops its carry, any values
  return two_or_more(n, p) * 0.5 * (words - 1) / (n - 1) * (1 + 1 / column_bits);
}

// Of fragments with independent bit errors.
double single_bits_undetected(Check check, const Path& path, double data_bytes) {
  const double p = path.bit_error_rate;
  const double n = 8 * (data_bytes + path.header_bytes);
  const double corrupted = -std::expm1(n * std::log1p(-p));
  if (p == 0) return 0;
  switch (check) {
    case Check::none:
      return corrupted;
    case Check::internet16:
      return sum_undetected(n, 16, p);
    case Check::additive32:
      return sum_undetected(n, 32, p);
    case Check::crc32c:
      return even_errors(n, n <= 5243 ? 6 : 4, p) * 0x1p-31;
    case Check::xxh3_64:
      return corrupted * 0x1p-64;
  }
  return 1;
}

}  // namespace

std::string_view check_name(Check check) {
  switch (check) {
    case Check::none:
      return "none";
    case Check::internet16:
      return "16-bit sum";
    case Check::additive32:
      return "32-bit sum";
    case Check::crc32c:
      return "CRC-32C";
    case Check::xxh3_64:
      return "XXH3-64";
  }
  return {};
}

double corrupt_chance(const Path& path, double data_bytes) {
  return -std::expm1(8 * (data_bytes + path.header_bytes) * std::log1p(-path.bit_error_rate));
}

double goodput_bit_per_s(const Path& path, double data_bytes) {
  const double good = 1 - corrupt_chance(path, data_bytes);
  return path.bandwidth_bit_per_s * data_bytes / (data_bytes + overhead_bytes(path)) * good;
}

double best_fragment_bytes(const Path& path) {
  if (path.bit_error_rate == 0) return std::numeric_limits<double>::infinity();
  const double loss = -8 * std::log1p(-path.bit_error_rate);
  const double h = overhead_bytes(path);
  // the positive root of s^2 + h s - h / loss, in the form that does not cancel
  return 2 * (h / loss) / (h + std::sqrt(h * h + 4 * h / loss));
}

double enough_power_of_two(const Path& path, double most_bytes) {
  double best = 0;
  for (double bytes = 64; bytes <= std::max(most_bytes, 64.0); bytes *= 2) {
    best = std::max(best, goodput_bit_per_s(path, bytes));
  }
  double enough = 64;
  while (goodput_bit_per_s(path, enough) < 0.99 * best) enough *= 2;
  return enough;
}

double window_fragments(const Path& path, double data_bytes) {
  const double one_s = 8 * (data_bytes + overhead_bytes(path)) / path.bandwidth_bit_per_s;
  return std::ceil(path.round_trip_s / one_s * (1 - 1e-12)) + 1;
}

double garbage_chance(Check check) {
  switch (check) {
    case Check::none:
      return 1;
    case Check::internet16:
      return 0x1p-16;
    case Check::additive32:
    case Check::crc32c:
      return 0x1p-32;
    case Check::xxh3_64:
      return 0x1p-64;
  }
  return 1;
}

double undetected_chance(Check check, const Path& path, double data_bytes) {
  return (1 - path.garbage_share) * single_bits_undetected(check, path, data_bytes) +
         path.garbage_share * corrupt_chance(path, data_bytes) * garbage_chance(check);
}

}  // namespace holdfast::plan
