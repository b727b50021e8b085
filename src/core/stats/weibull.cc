#include "core/stats/weibull.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/stats/distribution.h"

namespace holdfast::stats {
namespace {

constexpr double least_shape = 1e-3, most_shape = 1e3;

/// What the likelihood is a function of, with ages in units of `unit`, so that no power overflows.
struct Evidence {
  struct Weighted {
    double log_age;
    double count;
  };
  std::vector<Weighted> all;  // in ascending order, equal ages together
  double failures = 0;
  double log_failed = 0;  // sum of the logarithms of the ages of failures
  double unit = 1;
};

Status no_lives(std::string wrong, std::string remedy) {
  return {Code::bad_input, "fitting a Weibull distribution", std::move(wrong), std::move(remedy)};
}

Status check(std::span<const Life> lives) {
  if (lives.empty()) return no_lives("there are no lives", "give ages");
  double greatest = 0, failures = 0;
  bool before = false;
  for (const Life& life : lives) {
    if (!(life.age > 0) || !std::isfinite(life.age) || !(life.limit >= life.age) || !std::isfinite(life.limit) ||
        life.count == 0)
      return no_lives("an age is no positive number", "leave out what has no age");
    greatest = std::max(greatest, life.age);
    if (life.failed) failures += static_cast<double>(life.count);
  }
  for (const Life& life : lives) before = before || (life.failed && life.age < greatest);
  if (failures < 2) return no_lives("there are fewer than two failures", "observe longer, or more parts");
  if (!before) return no_lives("all failures are at the greatest age", "give times, not days, or observe longer");
  return {};
}

Evidence gather(std::span<const Life> lives) {
  Evidence evidence;
  evidence.unit = 0;
  for (const Life& life : lives) evidence.unit = std::max(evidence.unit, life.age);
  std::map<double, double> counts;
  for (const Life& life : lives) {
    const auto count = static_cast<double>(life.count);
    counts[life.age] += count;
    if (!life.failed) continue;
    evidence.failures += count;
    evidence.log_failed += count * std::log(life.age / evidence.unit);
  }
  for (const auto& [age, count] : counts) evidence.all.push_back({std::log(age / evidence.unit), count});
  return evidence;
}

struct PowerSums {
  double sum = 0;       // of age^shape
  double weighted = 0;  // of age^shape log(age)
};
PowerSums powers(const Evidence& evidence, double shape, double log_unit = 0) {
  PowerSums sums;
  for (const auto& [log_age, count] : evidence.all) {
    const double power = count * std::exp(shape * (log_age - log_unit));
    sums.sum += power;
    sums.weighted += power * (log_age - log_unit);
  }
  return sums;
}

/// Where a function that falls (or rises) through 0 does so; both ends have been seen to have different signs, or the
/// nearer one is the answer.
template <class Function>
double root(double low, double high, const Function& function) {
  const bool rises = function(low) < 0;
  for (int step = 0; step < 200 && high - low > 1e-13 * (std::abs(low) + std::abs(high)); ++step) {
    const double middle = (low + high) / 2;
    ((function(middle) < 0) == rises ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// The best scale taken for each shape: the logarithm of the likelihood, but for what no shape changes.
double profile(const Evidence& evidence, double shape) {
  const double d = evidence.failures;
  return d * std::log(shape) - d * std::log(powers(evidence, shape).sum / d) + (shape - 1) * evidence.log_failed - d;
}

double best_shape(const Evidence& evidence) {
  const auto slope = [&](double log_shape) {  // of the profile, over d: falls
    const double shape = std::exp(log_shape);
    const PowerSums sums = powers(evidence, shape);
    return 1 / shape - sums.weighted / sums.sum + evidence.log_failed / evidence.failures;
  };
  return std::exp(root(std::log(least_shape), std::log(most_shape), slope));
}

/// Where a curve with its top at `best` has come down to `level` on either side, by the logarithm of the parameter.
template <class Curve>
Interval around(double best, double low, double high, double level, const Curve& curve) {
  const auto above = [&](double log_value) { return curve(std::exp(log_value)) - level; };
  const double top = std::log(best);
  Interval interval{low, high};
  if (above(std::log(low)) < 0) interval.low = std::exp(root(std::log(low), top, above));
  if (above(std::log(high)) < 0) interval.high = std::exp(root(top, std::log(high), above));
  return interval;
}

/// The profile over all shapes of the cumulative hazard at the horizon, (horizon / scale)^shape.
double hazard_profile(const Evidence& evidence, double log_horizon, double hazard) {
  const double log_failed = evidence.log_failed - evidence.failures * log_horizon;
  const auto slope = [&](double log_shape) {
    const double shape = std::exp(log_shape);
    return evidence.failures / shape + log_failed - hazard * powers(evidence, shape, log_horizon).weighted;
  };
  const double shape = std::exp(root(std::log(least_shape), std::log(most_shape), slope));
  // of the density in units of evidence.unit, as profile()
  return evidence.failures * std::log(shape * hazard) + (shape - 1) * log_failed - evidence.failures * log_horizon -
         hazard * powers(evidence, shape, log_horizon).sum;
}

Weibull estimate(const Evidence& evidence) {
  Weibull fit;
  fit.shape = best_shape(evidence);
  fit.scale = evidence.unit * std::exp(std::log(powers(evidence, fit.shape).sum / evidence.failures) / fit.shape);
  return fit;
}

/// The greatest distance between what is seen of survival and what the fit says, at the failures.
double distance(std::span<const Life> sorted, const Weibull& fit) {
  double at_risk = 0, survival = 1, greatest = 0;
  for (const Life& life : sorted) at_risk += static_cast<double>(life.count);
  for (const Life& life : sorted) {
    const auto count = static_cast<double>(life.count);
    if (life.failed) {
      const double said = fit.survival(life.age);
      greatest = std::max(greatest, std::abs(survival - said));
      survival *= 1 - count / at_risk;
      greatest = std::max(greatest, std::abs(survival - said));
    }
    at_risk -= count;
  }
  return greatest;
}

std::vector<Life> in_order(std::span<const Life> lives) {
  std::vector<Life> sorted(lives.begin(), lives.end());
  std::ranges::sort(sorted, [](const Life& a, const Life& b) {
    return a.age != b.age ? a.age < b.age : a.failed && !b.failed;  // who fails at an age was at risk there
  });
  return sorted;
}

/// As many lives as there are, observed as long, of the fitted distribution. Of those with one limit the ages are drawn
/// in ascending order, by what the cumulative hazard grows from one failure to the next, so that who survives costs
/// nothing.
std::vector<Life> draw(const std::map<double, std::uint64_t>& limits, const Weibull& fit,
                       const std::function<double()>& uniform) {
  std::vector<Life> lives;
  for (const auto& [limit, count] : limits) {
    const double most = std::pow(limit / fit.scale, fit.shape);
    double hazard = 0;
    std::uint64_t left = count;
    for (; left > 0; --left) {
      hazard -= std::log1p(-uniform()) / static_cast<double>(left);
      if (!(hazard < most)) break;
      const double age = std::min(limit, fit.scale * std::pow(hazard, 1 / fit.shape));
      if (age > 0) lives.push_back({age, limit, true, 1});
    }
    if (left > 0) lives.push_back({limit, limit, false, left});
  }
  return lives;
}

}  // namespace

double Weibull::survival(double age) const {
  return std::exp(-std::pow(age / scale, shape));
}

Result<Weibull> fit_weibull(std::span<const Life> lives, double horizon, double confidence) {
  if (Status status = check(lives); !status.ok()) return status;
  if (!(horizon > 0) || !std::isfinite(horizon)) return no_lives("the horizon is no positive number", "give one");
  if (!(confidence > 0 && confidence < 1)) return no_lives("the confidence is not between 0 and 1", "as 0.95");
  const Evidence evidence = gather(lives);
  Weibull fit = estimate(evidence);
  fit.horizon = horizon;
  fit.failures = static_cast<std::uint64_t>(evidence.failures);
  for (const Life& life : lives) fit.lives += life.count;
  const double top = profile(evidence, fit.shape), width = std::pow(normal_quantile(0.5 + confidence / 2), 2) / 2;
  fit.shape_interval =
      around(fit.shape, least_shape, most_shape, top - width, [&](double shape) { return profile(evidence, shape); });
  fit.constant_rate_p = std::erfc(std::sqrt(std::max(0.0, top - profile(evidence, 1))));
  const double log_horizon = std::log(horizon / evidence.unit);
  const double hazard = std::pow(horizon / fit.scale, fit.shape);
  const Interval hazards = around(hazard, hazard * 1e-6, hazard * 1e6, top - width,
                                  [&](double value) { return hazard_profile(evidence, log_horizon, value); });
  fit.failed_by_horizon = -std::expm1(-hazard);
  fit.by_horizon_interval = {-std::expm1(-hazards.low), -std::expm1(-hazards.high)};
  return fit;
}

Result<double> weibull_fit_p(std::span<const Life> lives, unsigned resamples, const std::function<double()>& uniform) {
  if (Status status = check(lives); !status.ok()) return status;
  if (resamples == 0) return no_lives("no samples are asked for", "ask for some hundred");
  const Weibull fit = estimate(gather(lives));
  const double seen = distance(in_order(lives), fit);
  std::map<double, std::uint64_t> limits;
  for (const Life& life : lives) limits[life.limit] += life.count;
  unsigned as_far = 0;
  unsigned made = 0;
  for (unsigned tries = 0; made < resamples && tries < 100 * resamples; ++tries) {
    const std::vector<Life> drawn = in_order(draw(limits, fit, uniform));
    if (drawn.empty() || !check(drawn).ok()) continue;
    ++made;
    if (distance(drawn, estimate(gather(drawn))) >= seen) ++as_far;
  }
  return (as_far + 1.0) / (made + 1.0);
}

}  // namespace holdfast::stats
