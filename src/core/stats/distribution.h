#pragma once

namespace holdfast::stats {

/// Quantiles of the distributions that intervals and forecasts are made of, by Boost.Math. `p` is the probability of
/// what lies below, strictly between 0 and 1. Arguments outside their domain give NaN; nothing throws. Any thread.

/// Standard normal.
double normal_quantile(double p);
/// Student's t with this many degrees of freedom, > 0.
double student_t_quantile(double p, double degrees_of_freedom);
/// Beta with both shapes > 0: the exact bounds of a proportion.
double beta_quantile(double p, double a, double b);
/// Gamma with mean shape * scale: the time of the shape-th event of a Poisson process whose gaps have the mean `scale`.
double gamma_quantile(double p, double shape, double scale);

}  // namespace holdfast::stats
