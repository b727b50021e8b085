#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/status/status.h"

namespace holdfast::launch {

/// What a short-lived helper program said.
struct Captured {
  int exit_status = 0;  ///< its exit status; 128 + n when signal n ended it
  std::string output;   ///< standard output
  std::string errors;   ///< standard error
};

/// Runs argv[0] (an absolute path) with the environment of this process less the variables in `unset`, standard input
/// empty, and returns what it printed. Ends it when `limit` has passed. Blocks; any thread.
/// Errors: io when it cannot be started, or does not end in time.
Result<Captured> capture(const std::vector<std::string>& argv, const std::vector<std::string>& unset = {},
                         std::chrono::milliseconds limit = std::chrono::seconds(20));

}  // namespace holdfast::launch
