#include "core/stats/confidence.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/stats/distribution.h"

namespace holdfast::stats {
namespace {

const std::string doing = "computing a confidence interval";

Status check(double confidence, std::uint64_t count, std::uint64_t least) {
  if (!(confidence > 0 && confidence < 1)) {
    return {Code::bad_input, doing, "the confidence " + std::to_string(confidence) + " is not between 0 and 1",
            "give 0.95"};
  }
  if (count < least) {
    return {Code::bad_input, doing, std::to_string(count) + " numbers are too few",
            "measure at least " + std::to_string(least) + " times"};
  }
  return {};
}

// How many of the least numbers may be left out at each end so that the rest covers the median with the confidence:
// the greatest k with 2 P(Binomial(n, 1/2) < k) <= 1 - confidence. 0 when not even all numbers cover it.
std::size_t outside_median(std::size_t count, double confidence) {
  const double n = static_cast<double>(count);
  double below = 0;
  std::size_t k = 0;
  while (2 * k < count) {
    const double i = static_cast<double>(k);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0));
    if (2 * below > 1 - confidence) break;
    ++k;
  }
  return k;
}

}  // namespace

Result<Interval> mean_interval(const Moments& moments, double confidence) {
  if (Status status = check(confidence, moments.count(), 2); !status) return status;
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(moments.count() - 1));
  const double half = t * moments.standard_error();
  return Interval{moments.mean() - half, moments.mean() + half};
}

Result<Interval> proportion_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  if (Status status = check(confidence, trials, 1); !status) return status;
  if (successes > trials) return Status(Code::bad_input, doing, "more successes than trials", "swap the two");
  const double s = static_cast<double>(successes);
  const double n = static_cast<double>(trials);
  const double tail = (1 - confidence) / 2;
  return Interval{successes == 0 ? 0 : beta_quantile(tail, s, n - s + 1),
                  successes == trials ? 1 : beta_quantile(1 - tail, s + 1, n - s)};
}

Result<Interval> median_interval(std::span<const double> values, double confidence) {
  if (Status status = check(confidence, values.size(), 2); !status) return status;
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    return Status(Code::bad_input, doing, "one of the values is no number", "leave failed measurements out");
  }
  const std::size_t outside = outside_median(values.size(), confidence);
  if (outside == 0) {
    const double least = std::ceil(1 - std::log2(1 - confidence));
    return check(confidence, values.size(), static_cast<std::uint64_t>(least));
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[outside - 1], sorted[sorted.size() - outside]};
}

}  // namespace holdfast::stats
