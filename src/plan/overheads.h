#pragma once

#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::plan {

/// How much longer a job takes because its replicas compare what they send, failures aside.
struct Overheads {
  double dual = 1;    ///< time with two replicas over time with one
  double triple = 1;  ///< with three
  bool measured = false;
  std::string source;

  /// Linear between whole degrees, from 1 at degree 1; above 3 it continues the step from 2 to 3.
  double at(double degree) const;
};

/// RedMPI section 6, averages of its program "cg" (1.45, 1.62), "ft" (1.39, 1.40) or "lu" (1.13, 1.21), against the
/// same program without replicas.
Overheads paper_overheads(std::string_view program);

/// Reads what bench/replication_overhead.py writes: {"ratios": {"2 msg-plus-hash": {"median": 1.1}, "3 ...":
/// ...}}, the time of a job in r replicas over that of r unprotected copies beside each other. `name` is its name in
/// messages. Error (bad_input): no such result.
Result<Overheads> read_overheads(std::string_view text, std::string_view name);

}  // namespace holdfast::plan
