#include "core/stats/regression.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace holdfast::stats {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

Status check(std::span<const double> x, std::span<const double> y) {
  const std::string doing = "fitting a line";
  if (x.size() != y.size()) {
    return {Code::bad_input, doing, std::to_string(x.size()) + " x and " + std::to_string(y.size()) + " y",
            "give them in pairs"};
  }
  if (x.size() < 2) return {Code::bad_input, doing, "there are fewer than two points", "measure more"};
  if (!all_finite(x) || !all_finite(y)) {
    return {Code::bad_input, doing, "one of the values is no finite number", "leave failed measurements out"};
  }
  if (std::all_of(x.begin(), x.end(), [&](double value) { return value == x.front(); })) {
    return {Code::bad_input, doing, "all x are the same", "vary x"};
  }
  return {};
}

}  // namespace

Result<Line> fit_line(std::span<const double> x, std::span<const double> y) {
  if (Status status = check(x, y); !status) return status;
  const double x_mean = mean_of(x);
  const double y_mean = mean_of(y);
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
  }
  Line line;
  line.count = x.size();
  line.slope = xy / xx;
  line.intercept = y_mean - line.slope * x_mean;
  double residuals = 0;
  for (std::size_t i = 0; i < x.size(); ++i) residuals += (y[i] - line.at(x[i])) * (y[i] - line.at(x[i]));
  line.r2 = yy > 0 ? std::clamp(1 - residuals / yy, 0.0, 1.0) : 0;
  const double n = static_cast<double>(x.size());
  const double noise = x.size() > 2 ? residuals / (n - 2) : std::nan("");
  line.slope_error = std::sqrt(noise / xx);
  line.intercept_error = std::sqrt(noise * (1 / n + x_mean * x_mean / xx));
  return line;
}

}  // namespace holdfast::stats
