#include "core/stats/distribution.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace holdfast::stats {
namespace {

namespace math = boost::math;
// Errors become NaN or infinity instead of exceptions.
using Quiet = math::policies::policy<math::policies::domain_error<math::policies::ignore_error>,
                                     math::policies::pole_error<math::policies::ignore_error>,
                                     math::policies::overflow_error<math::policies::ignore_error>,
                                     math::policies::evaluation_error<math::policies::ignore_error>>;

}  // namespace

double normal_quantile(double p) {
  return math::quantile(math::normal_distribution<double, Quiet>(), p);
}

double student_t_quantile(double p, double degrees_of_freedom) {
  return math::quantile(math::students_t_distribution<double, Quiet>(degrees_of_freedom), p);
}

double beta_quantile(double p, double a, double b) {
  return math::quantile(math::beta_distribution<double, Quiet>(a, b), p);
}

double gamma_quantile(double p, double shape, double scale) {
  return math::quantile(math::gamma_distribution<double, Quiet>(shape, scale), p);
}

}  // namespace holdfast::stats
