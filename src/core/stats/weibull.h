#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/stats/confidence.h"
#include "core/status/status.h"

namespace holdfast::stats {

/// How long something worked, in any unit of time: until it failed, or, of what still worked when nobody looked any
/// more, until then (censored on the right).
struct Life {
  double age = 0;           ///< > 0
  double limit = 0;         ///< the age at which nobody would have looked any more, >= age; equal to it if not failed
  bool failed = false;      ///< at `age`
  std::uint64_t count = 1;  ///< lives that are like this one
};

/// The distribution S(t) = exp(-(t / scale)^shape): below shape 1 failures become rarer with age, at 1 their rate is
/// constant, above they become more frequent.
struct Weibull {
  double shape = 1;
  double scale = 0;
  Interval shape_interval;
  double horizon = 0;            ///< as asked for
  double failed_by_horizon = 0;  ///< the probability of an age below the horizon, 0 to 1
  Interval by_horizon_interval;
  double constant_rate_p = 1;  ///< of the likelihood ratio test of shape 1
  std::uint64_t failures = 0, lives = 0;

  double survival(double age) const;
};

/// Maximum likelihood; intervals by the profile of the likelihood (W. Meeker and L. Escobar, "Statistical Methods for
/// Reliability Data", 1998, chapter 8), which fit few failures better than those of normal errors do. O(n log n).
/// Errors (bad_input): no life, ages or limits that are no positive numbers, fewer than two failures, or all failures
/// at the greatest age, where the likelihood grows without end; a confidence outside (0, 1). Any thread.
Result<Weibull> fit_weibull(std::span<const Life> lives, double horizon, double confidence);

/// Goodness of fit: the probability that lives of just this distribution, observed as long, are as far from their own
/// fit as these, by the greatest distance between the survival that Kaplan and Meier estimate and the fitted one. By
/// `resamples` samples that are drawn with `uniform` (numbers of [0, 1)); those with too few failures for a fit count
/// as no evidence and are drawn again. Small: they are of no Weibull distribution. Errors as above. (W. Stute, W.
/// Gonzalez Manteiga and M. Presedo Quindimil, "Bootstrap based goodness-of-fit-tests", Metrika 40, 1993.)
Result<double> weibull_fit_p(std::span<const Life> lives, unsigned resamples, const std::function<double()>& uniform);

}  // namespace holdfast::stats
