#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::plan {

/// Throughput of a fabric against the number of its failures under one routing engine, as a straight line
/// ("Fail-in-Place Network Design", section V-B and Tables V to VII).
struct EngineLine {
  std::string engine;
  double intercept = 0;      ///< throughput without failures
  double slope = 0;          ///< change for each failure; negative when it falls
  double r2 = 0;             ///< NaN when the study gives none
  double most_failures = 0;  ///< greatest number that was measured; NaN when the study gives none

  double at(double failures) const;  ///< never below 0
};

struct RegressionFile {
  std::string title;
  std::string source;
  std::string unit;                 ///< of the throughput, such as "GB/s"
  std::string failures;             ///< what is counted: "links", "switches" or "links and switches"
  std::vector<EngineLine> engines;  ///< at least one
};

/// Reads a record of the kind holdfast.regression (docs/spec/regression.md). `name` is its name in messages. Error
/// (bad_input), one line.
Result<RegressionFile> read_regression(std::string_view text, std::string_view name);

}  // namespace holdfast::plan
