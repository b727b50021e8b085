#pragma once

#include <cstdint>

namespace holdfast::stats {

/// Mean, variance, least and greatest of numbers seen one at a time, without keeping them. Exact in the sense of
/// Welford: no difference of large sums is taken. A value of 40 bytes; thread-compatible; add() allocates nothing. Two
/// threads' moments are joined by merge(). Numbers that are no finite number spoil mean and variance (they become NaN).
/// Source: B. P. Welford, Technometrics 4(3), 1962; merging: T. Chan, G. Golub, R. LeVeque, "Algorithms for Computing
/// the Sample Variance", The American Statistician 37(3), 1983.
class Moments {
 public:
  void add(double value);
  void merge(const Moments& other);

  std::uint64_t count() const { return count_; }
  /// NaN when nothing was added.
  double mean() const;
  /// Of the sample, divided by count - 1; NaN below two numbers.
  double variance() const;
  double standard_deviation() const;
  /// Of the mean: standard deviation / sqrt(count).
  double standard_error() const;
  /// NaN when nothing was added.
  double least() const;
  double greatest() const;

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  ///< sum of the squared distances from the mean
  double least_ = 0;
  double greatest_ = 0;
};

}  // namespace holdfast::stats
