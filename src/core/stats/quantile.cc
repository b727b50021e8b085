#include "core/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace holdfast::stats {

Result<double> quantile(std::span<const double> values, double p) {
  const std::string doing = "taking a quantile";
  if (values.empty()) return Status(Code::bad_input, doing, "there are no numbers", "measure at least once");
  if (!(p >= 0 && p <= 1)) {
    return Status(Code::bad_input, doing, "the share " + std::to_string(p) + " is not between 0 and 1", "give 0.95");
  }
  std::vector<double> sorted(values.begin(), values.end());
  if (std::any_of(sorted.begin(), sorted.end(), [](double value) { return std::isnan(value); })) {
    return Status(Code::bad_input, doing, "one of the values is no number", "leave failed measurements out");
  }
  std::sort(sorted.begin(), sorted.end());
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  if (share == 0) return sorted[below];
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

Result<double> median(std::span<const double> values) {
  return quantile(values, 0.5);
}

}  // namespace holdfast::stats
