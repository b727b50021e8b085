#pragma once

#include <string>
#include <vector>

#include "plan/regression_file.h"

namespace holdfast::plan {

/// What fails in a fabric that is not repaired (fail-in-place), and for how long it is to serve.
struct FabricLife {
  double failures_per_s = 0;  ///< of all links and switches that the regression counts
  double life_s = 0;
  double threshold = 0;  ///< of an engine's throughput without failures
};

/// What one engine's line means for a fabric's life.
struct EngineForecast {
  EngineLine line;
  double mean_throughput = 0;  ///< over the life, at the expected number of failures
  double last_throughput = 0;  ///< at its end
  double due_failures = 0;     ///< the least number at which throughput is below the threshold; infinite: never
  double due_mean_s = 0;       ///< mean time until there are so many
  double due_early_s = 0;      ///< one fabric in twenty is there by then
  double due_late_s = 0;       ///< nineteen in twenty are
  bool extrapolated = false;   ///< due_failures is beyond what was measured
};

/// A point from which another engine is expected to be better ("hybrid approaches", section V-B).
struct Change {
  double failures = 0;
  double time_s = 0;  ///< when so many are expected
  std::string engine;
};

struct FabricForecast {
  std::vector<EngineForecast> engines;  ///< greatest mean throughput over the life first
  std::vector<Change> changes;          ///< from the best at 0 failures on, within the life; the first is at 0
};

/// Failures are a Poisson process of constant rate ("Fail-in-Place Network Design", section II and V-D: a constant
/// annual failure rate); the time of the n-th is Gamma(n).
FabricForecast forecast(const FabricLife& life, const std::vector<EngineLine>& engines);

}  // namespace holdfast::plan
