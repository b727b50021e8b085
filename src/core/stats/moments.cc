#include "core/stats/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace holdfast::stats {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void Moments::add(double value) {
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = count_ == 0 ? value : std::max(greatest_, value);
  ++count_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
}

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  const double mine = static_cast<double>(count_);
  const double theirs = static_cast<double>(other.count_);
  const double apart = other.mean_ - mean_;
  mean_ += apart * theirs / (mine + theirs);
  squares_ += other.squares_ + apart * apart * mine * theirs / (mine + theirs);
  count_ += other.count_;
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

double Moments::mean() const {
  return count_ == 0 ? nothing : mean_;
}

double Moments::variance() const {
  return count_ < 2 ? nothing : squares_ / static_cast<double>(count_ - 1);
}

double Moments::standard_deviation() const {
  return std::sqrt(variance());
}

double Moments::standard_error() const {
  return std::sqrt(variance() / static_cast<double>(count_));
}

double Moments::least() const {
  return count_ == 0 ? nothing : least_;
}

double Moments::greatest() const {
  return count_ == 0 ? nothing : greatest_;
}

}  // namespace holdfast::stats
