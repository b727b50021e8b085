#include "plan/fabric_life.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/stats/distribution.h"

namespace holdfast::plan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// The mean of a line that stops at 0, over 0 to `failures`.
double mean_over(const EngineLine& line, double failures) {
  if (failures == 0) return line.at(0);
  const double reach = line.slope < 0 ? std::min(failures, -line.intercept / line.slope) : failures;
  return (line.intercept + line.slope * reach / 2) * reach / failures;
}

// The least whole number of failures with a throughput below the threshold.
double due_failures(const EngineLine& line, double threshold) {
  if (line.slope >= 0) return never;
  const double edge = (1 - threshold) * line.intercept / -line.slope;
  return std::max(1.0, std::floor(edge * (1 + 1e-12)) + 1);
}

EngineForecast forecast_engine(const FabricLife& life, const EngineLine& line) {
  EngineForecast forecast;
  forecast.line = line;
  const double expected = life.failures_per_s * life.life_s;
  forecast.mean_throughput = mean_over(line, expected);
  forecast.last_throughput = line.at(expected);
  forecast.due_failures = due_failures(line, life.threshold);
  if (std::isinf(forecast.due_failures) || life.failures_per_s == 0) {
    forecast.due_mean_s = forecast.due_early_s = forecast.due_late_s = never;
    return forecast;
  }
  const double gap_s = 1 / life.failures_per_s;
  forecast.due_mean_s = forecast.due_failures * gap_s;
  forecast.due_early_s = stats::gamma_quantile(0.05, forecast.due_failures, gap_s);
  forecast.due_late_s = stats::gamma_quantile(0.95, forecast.due_failures, gap_s);
  forecast.extrapolated = forecast.due_failures > line.most_failures;
  return forecast;
}

// The first number of failures after `from` at which another line overtakes this one; infinite when none does.
double overtaken_at(const EngineLine& best, const std::vector<EngineLine>& engines, double from,
                    const EngineLine** next) {
  double least = never;
  for (const EngineLine& other : engines) {
    if (!(other.slope > best.slope)) continue;
    const double meets = (best.intercept - other.intercept) / (other.slope - best.slope);
    if (meets < from || !(meets < least)) continue;
    least = meets;
    *next = &other;
  }
  return least;
}

}  // namespace

FabricForecast forecast(const FabricLife& life, const std::vector<EngineLine>& engines) {
  FabricForecast result;
  if (engines.empty()) return result;
  for (const EngineLine& line : engines) result.engines.push_back(forecast_engine(life, line));
  std::stable_sort(result.engines.begin(), result.engines.end(), [](const EngineForecast& a, const EngineForecast& b) {
    return a.mean_throughput > b.mean_throughput;
  });
  const EngineLine* best = &engines.front();
  for (const EngineLine& line : engines) {
    if (line.intercept > best->intercept || (line.intercept == best->intercept && line.slope > best->slope))
      best = &line;
  }
  const double expected = life.failures_per_s * life.life_s;
  double failures = 0;
  while (failures <= expected) {
    result.changes.push_back({failures, failures == 0 ? 0 : failures / life.failures_per_s, best->engine});
    const EngineLine* next = nullptr;
    failures = overtaken_at(*best, engines, failures, &next);
    if (next == nullptr) break;
    best = next;
  }
  return result;
}

}  // namespace holdfast::plan
