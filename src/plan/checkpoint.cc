#include "plan/checkpoint.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace holdfast::plan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double certain_end = 1e-17;  ///< a try survives no longer than this chance
constexpr std::size_t most_segments = 4000;

Outcome endless(const CheckpointedJob& job, double segments) {
  return {segments, never, job.work_s, segments * job.checkpoint_s, never, never, never};
}

// What is summed over tries: time, time in restarts, interrupts.
struct Totals {
  double wall_s = 0;
  double restart_s = 0;
  double interrupts = 0;

  Totals& add(double factor, const Totals& other) {
    wall_s += factor * other.wall_s;
    restart_s += factor * other.restart_s;
    interrupts += factor * other.interrupts;
    return *this;
  }
  Totals over(double share) const { return {wall_s / share, restart_s / share, interrupts / share}; }
};

// The integral of the survival function over [from, to], in steps that are short beside its own scale.
double lived(const std::function<double(double)>& survives, double from, double to, double scale_s) {
  const int pieces = static_cast<int>(std::clamp(std::ceil((to - from) / (scale_s / 4)), 1.0, 64.0));
  const double step = (to - from) / pieces;
  double sum = 0;
  for (int i = 0; i < pieces; ++i) {
    sum += boost::math::quadrature::gauss<double, 15>::integrate(survives, from + i * step, from + (i + 1) * step);
  }
  return sum;
}

// Survival and its integral at start, start + segment, start + 2 segments ..., until survival is nothing.
struct Curve {
  std::vector<double> at;
  std::vector<double> integral;

  Curve(const std::function<double(double)>& survives, double start_s, double segment_s, std::size_t segments,
        double scale_s) {
    at.push_back(survives(start_s));
    integral.push_back(start_s > 0 ? lived(survives, 0, start_s, scale_s) : 0);
    for (std::size_t k = 1; k <= segments && at.back() > certain_end; ++k) {
      const double from = start_s + segment_s * static_cast<double>(k - 1);
      at.push_back(survives(from + segment_s));
      integral.push_back(integral.back() + lived(survives, from, from + segment_s, scale_s));
    }
  }
  double survival_at(std::size_t k) const { return k < at.size() ? at[k] : 0; }
  double integral_at(std::size_t k) const { return integral[std::min(k, integral.size() - 1)]; }
  // segments after which no try is left; the sums may stop there
  std::size_t reach() const { return at.size(); }
};

// later[k]: what is expected from the beginning of a try after an interrupt, k segments before the end.
std::vector<Totals> later_tries(const Curve& curve, std::size_t segments) {
  std::vector<Totals> later(segments + 1);
  const double restart_s = curve.integral_at(0);
  for (std::size_t k = 1; k <= segments; ++k) {
    Totals sum{curve.integral_at(k), restart_s, 1 - curve.survival_at(k)};
    for (std::size_t done = 1; done < std::min(k, curve.reach()); ++done) {
      sum.add(curve.survival_at(done) - curve.survival_at(done + 1), later[k - done]);
    }
    later[k] = sum.over(curve.survival_at(1));
  }
  return later;
}

Totals all_tries(const Curve& first, const std::vector<Totals>& later, std::size_t segments) {
  Totals sum{first.integral_at(segments), 0, 1 - first.survival_at(segments)};
  for (std::size_t done = 0; done < std::min(segments, first.reach()); ++done) {
    sum.add(first.survival_at(done) - first.survival_at(done + 1), later[segments - done]);
  }
  return sum;
}

}  // namespace

double daly_interval_s(double checkpoint_s, double mean_time_to_interrupt_s) {
  const double m = mean_time_to_interrupt_s;
  if (checkpoint_s >= 2 * m) return m;
  const double ratio = checkpoint_s / (2 * m);
  return std::sqrt(2 * checkpoint_s * m) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - checkpoint_s;
}

Outcome memoryless_outcome(const CheckpointedJob& job, double mean_time_to_interrupt_s, double interval_s) {
  const double m = mean_time_to_interrupt_s;
  const double segments = job.work_s / interval_s;
  const double segment_s = interval_s + job.checkpoint_s;
  Outcome outcome{segments, 0, job.work_s, segments * job.checkpoint_s, 0, 0, 0};
  if (std::isinf(m)) {
    outcome.wall_s = outcome.work_s + outcome.checkpoint_s;
    return outcome;
  }
  // A segment is interrupted e^(segment/M) - 1 times, each followed by restarts that take M (e^(R/M) - 1) in all.
  const double tries_lost = std::expm1(segment_s / m);
  const double restart_s = m * std::expm1(job.restart_s / m);
  outcome.restart_s = segments * tries_lost * restart_s;
  outcome.recompute_s = segments * (m * tries_lost - segment_s);
  outcome.interrupts = segments * tries_lost * std::exp(job.restart_s / m);
  outcome.wall_s = outcome.work_s + outcome.checkpoint_s + outcome.recompute_s + outcome.restart_s;
  return std::isfinite(outcome.wall_s) ? outcome : endless(job, segments);
}

Outcome renewal_outcome(const CheckpointedJob& job, double segments, const std::function<double(double)>& survives,
                        double mean_time_to_interrupt_s) {
  const double segment_s = job.work_s / segments + job.checkpoint_s;
  const auto counted = static_cast<std::size_t>(std::min(segments, static_cast<double>(most_segments)));
  const Curve first(survives, 0, segment_s, counted, mean_time_to_interrupt_s);
  const Curve restarted(survives, job.restart_s, segment_s, counted, mean_time_to_interrupt_s);
  if (!(restarted.survival_at(1) > certain_end)) return endless(job, segments);
  const std::vector<Totals> later = later_tries(restarted, counted);
  Totals totals = all_tries(first, later, counted);
  if (segments > static_cast<double>(counted)) {
    Totals step = totals;
    step.add(-1, all_tries(first, later, counted - 1));
    totals.add(segments - static_cast<double>(counted), step);
  }
  if (!std::isfinite(totals.wall_s)) return endless(job, segments);
  Outcome outcome{segments, totals.wall_s,    job.work_s,       segments * job.checkpoint_s,
                  0,        totals.restart_s, totals.interrupts};
  outcome.recompute_s =
      std::max(0.0, outcome.wall_s - outcome.work_s - outcome.checkpoint_s - outcome.restart_s);  // rounding below 0
  return outcome;
}

Outcome best_outcome(const CheckpointedJob& job, const std::function<double(double)>& survives,
                     double mean_time_to_interrupt_s) {
  std::map<double, Outcome> seen;
  const auto at = [&](double segments) -> const Outcome& {
    const auto found = seen.find(segments);
    if (found != seen.end()) return found->second;
    return seen.emplace(segments, renewal_outcome(job, segments, survives, mean_time_to_interrupt_s)).first->second;
  };
  const double guess =
      std::isinf(mean_time_to_interrupt_s)
          ? 1
          : std::max(1.0, std::round(job.work_s / daly_interval_s(job.checkpoint_s, mean_time_to_interrupt_s)));
  double best = guess;
  // Steps of an eighth of the number, then of ever less, as long as they help.
  for (double step = std::max(1.0, std::round(guess / 8)); step >= 1; step = std::floor(step / 2)) {
    for (bool better = true; better;) {
      better = false;
      for (double next : {best - step, best + step}) {
        if (next < 1 || !(at(next).wall_s < at(best).wall_s)) continue;
        best = next;
        better = true;
        break;
      }
    }
  }
  return at(best);
}

}  // namespace holdfast::plan
