#include "plan/availability.h"

#include <cmath>

namespace holdfast::plan {

double availability(double mttf, double mttr) {
  return mttf / (mttf + mttr);
}

double nines(double availability) {
  return -std::log10(1 - availability);
}

double system_availability(double ranks, int degree, double node_availability) {
  return std::exp(ranks * std::log1p(-std::pow(1 - node_availability, degree)));
}

double needed_node_availability(double ranks, int degree, double system_availability) {
  const double rank_fails = -std::expm1(std::log(system_availability) / ranks);
  return 1 - std::pow(rank_fails, 1.0 / degree);
}

}  // namespace holdfast::plan
