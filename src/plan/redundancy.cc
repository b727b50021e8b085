#include "plan/redundancy.h"

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>

namespace holdfast::plan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// ranks * log(1 - lost), exact for the tiny `lost` of many replicas; 0 for no ranks.
double log_all_hold(double ranks, double lost) {
  return ranks == 0 ? 0 : ranks * std::log1p(-lost);
}

// The chance that a vote among r replicas has no majority of clean ones, each being corrupt with probability y.
double no_majority(int replicas, double y) {
  if (replicas < 2) return 0;
  double lost = 0;
  const int clean_needed = replicas / 2 + 1;
  double ways = 1;
  for (int corrupt = 0; corrupt <= replicas; ++corrupt) {
    if (replicas - corrupt < clean_needed) lost += ways * std::pow(y, corrupt) * std::pow(1 - y, replicas - corrupt);
    ways = ways * (replicas - corrupt) / (corrupt + 1);
  }
  return lost;
}

}  // namespace

Redundancy split_ranks(double ranks, double degree) {
  Redundancy redundancy;
  redundancy.low_replicas = static_cast<int>(degree);
  redundancy.ranks_high = std::round(ranks * (degree - redundancy.low_replicas));
  redundancy.ranks_low = ranks - redundancy.ranks_high;
  return redundancy;
}

Crash crash_of(const Redundancy& redundancy, Crash asked) {
  const bool partial = redundancy.ranks_low > 0 && redundancy.ranks_high > 0;
  return asked == Crash::world && partial ? Crash::job : asked;
}

double survival_of_crashes(const Redundancy& redundancy, double node_mtbf_s, double t_s, Crash asked) {
  const Crash crash = crash_of(redundancy, asked);
  if (crash == Crash::job) return std::exp(-redundancy.nodes() * t_s / node_mtbf_s);
  if (crash == Crash::world) {
    const double world_dead = -std::expm1(-redundancy.ranks() * t_s / node_mtbf_s);
    const double worlds = redundancy.nodes() / redundancy.ranks();
    return worlds == 1 ? std::exp(-redundancy.ranks() * t_s / node_mtbf_s) : -std::expm1(worlds * std::log(world_dead));
  }
  const double dead = -std::expm1(-t_s / node_mtbf_s);
  const int low = redundancy.low_replicas;
  if (low == 1) {  // exact where 1 - dead would round
    return std::exp(-redundancy.ranks_low * t_s / node_mtbf_s + log_all_hold(redundancy.ranks_high, dead * dead));
  }
  return std::exp(log_all_hold(redundancy.ranks_low, std::pow(dead, low)) +
                  log_all_hold(redundancy.ranks_high, std::pow(dead, low + 1)));
}

double survival_of_votes(const Redundancy& redundancy, double corruption_rate_per_s, double t_s) {
  if (corruption_rate_per_s == 0) return 1;
  const double corrupt = -std::expm1(-t_s * corruption_rate_per_s);
  return std::exp(log_all_hold(redundancy.ranks_low, no_majority(redundancy.low_replicas, corrupt)) +
                  log_all_hold(redundancy.ranks_high, no_majority(redundancy.low_replicas + 1, corrupt)));
}

double survival(const Redundancy& redundancy, const Hazards& hazards, double t_s) {
  return survival_of_crashes(redundancy, hazards.node_mtbf_s, t_s, hazards.crash) *
         survival_of_votes(redundancy, hazards.corruption_rate_per_s, t_s);
}

double mean_time_to_interrupt_s(const Redundancy& redundancy, const Hazards& hazards) {
  // The time by which half of all tries are over sets the scale: found by halving the exponent's interval.
  double low = -300, high = 300;
  if (survival(redundancy, hazards, std::exp2(high)) > 0.5) return never;
  for (int step = 0; step < 80; ++step) {
    const double middle = (low + high) / 2;
    (survival(redundancy, hazards, std::exp2(middle)) > 0.5 ? low : high) = middle;
  }
  const double half_s = std::exp2(low);
  const auto at = [&](double halves) { return survival(redundancy, hazards, halves * half_s); };
  using Rule = boost::math::quadrature::gauss_kronrod<double, 31>;
  return half_s * (Rule::integrate(at, 0, 1, 10, 1e-12) + Rule::integrate(at, 1, 8, 10, 1e-12) +
                   Rule::integrate(at, 8, never, 10, 1e-12));
}

double mean_time_to_crash_s(double ranks, int degree, double node_mtbf_s) {
  double sum = 0;
  for (int j = 1; j <= degree; ++j) {
    const double share = static_cast<double>(j) / degree;
    // B(share, ranks) by logarithms; the difference of two large ones keeps about 1e-10
    sum += std::exp(std::lgamma(share) + std::lgamma(ranks) - std::lgamma(ranks + share));
  }
  return node_mtbf_s / degree * sum;
}

}  // namespace holdfast::plan
