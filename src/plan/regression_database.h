#pragma once

#include <string>

#include "core/status/status.h"
#include "plan/regression_file.h"

namespace holdfast::plan {

/// Whether the file begins as an SQLite database does.
bool is_database(const std::string& path);

/// Fits a line for each engine to the runs of a study (docs/spec/study.md, view `throughput`) that have a throughput:
/// least squares, in GB/s, on the number of failed links and switches. Where an engine failed to route some run,
/// `most_failures` ends below the fewest failures at which it did. An engine without two numbers of failures is left
/// out. `group` chooses when the study has several groups, fabrics or traffic patterns; empty: there must be one.
/// Errors (bad_input): no such database, no such group, several fabrics in it, no engine with a line; with what there
/// is.
Result<RegressionFile> read_regression_database(const std::string& path, const std::string& group);

}  // namespace holdfast::plan
