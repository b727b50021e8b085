#include "plan/corruption.h"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <functional>

namespace holdfast::plan {
namespace {

// Of ranks with this many replicas that are not lost by t: how many have a single living one.
double alone(double ranks, int replicas, double node_mtbf_s, double t_s) {
  if (replicas == 1 || ranks == 0) return ranks;
  const double dead = -std::expm1(-t_s / node_mtbf_s);
  return ranks * replicas * std::pow(dead, replicas - 1) * (1 - dead) / (1 - std::pow(dead, replicas));
}

// The mean of a quantity over the ages of a job's tries, which survive as given and no longer than `most_s`.
double over_ages(const std::function<double(double)>& quantity, const std::function<double(double)>& survives,
                 double most_s) {
  using Rule = boost::math::quadrature::gauss_kronrod<double, 31>;
  const auto weighted = [&](double t) { return quantity(t) * survives(t); };
  return Rule::integrate(weighted, 0, most_s, 12, 1e-9) / Rule::integrate(survives, 0, most_s, 12, 1e-9);
}

// Votes that ranks of three lose in a second at age t: two of their replicas corrupt, the third not yet.
double votes_lost(double ranks, double rate, double t_s) {
  const double corrupt = -std::expm1(-t_s * rate);
  const double holds = (1 - corrupt) * (1 - corrupt) * (1 + 2 * corrupt);
  return ranks * 6 * corrupt * (1 - corrupt) * (1 - corrupt) * rate / holds;
}

double ranks_of(const Redundancy& redundancy, int replicas) {
  return (redundancy.low_replicas == replicas ? redundancy.ranks_low : 0) +
         (redundancy.low_replicas + 1 == replicas ? redundancy.ranks_high : 0);
}

}  // namespace

double SilentErrors::wrong_answer() const {
  return -std::expm1(-all());
}

SilentErrors silent_errors(const Redundancy& redundancy, const Hazards& hazards, const Outcome& outcome,
                           const ComparisonLimits& limits) {
  const double rate = hazards.corruption_rate_per_s;
  const double kept_s = outcome.work_s + outcome.checkpoint_s;
  if (rate == 0) return {};
  const double single = ranks_of(redundancy, 1);
  const double compared = redundancy.ranks() - single;
  SilentErrors errors;
  errors.unprotected = rate * single * kept_s;
  if (compared == 0) return errors;
  // Beyond some 40 mean lives nothing survives; a shorter range is easier to integrate.
  const double mean_s = mean_time_to_interrupt_s(redundancy, hazards);
  const double most_s = std::min(outcome.wall_s, 40 * mean_s);
  const auto survives = [&](double t) { return survival(redundancy, hazards, t); };
  const auto lonely = [&](double t) {
    return alone(redundancy.ranks_low, redundancy.low_replicas, hazards.node_mtbf_s, t) +
           alone(redundancy.ranks_high, redundancy.low_replicas + 1, hazards.node_mtbf_s, t) - single;
  };
  errors.unprotected += rate * kept_s * over_ages(lonely, survives, most_s);
  const double triples = ranks_of(redundancy, 3);
  if (triples > 0 && limits.identical_share > 0) {
    const auto lost = [&](double t) { return votes_lost(triples, rate, t); };
    errors.identical = limits.identical_share * kept_s * over_ages(lost, survives, most_s);
  }
  errors.collisions = rate * (redundancy.nodes() - single) * kept_s * std::exp2(-limits.digest_bits);
  errors.escaped = rate * compared * kept_s * limits.escape_share;
  return errors;
}

}  // namespace holdfast::plan
