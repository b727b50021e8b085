#pragma once

#include <string>

#include "core/status/status.h"
#include "record/trace.h"

namespace holdfast::record {

struct Goal {
  Trace trace;
  std::string text;
};

/// A trace as a GOAL schedule (docs/spec/trace.md): computing as `calc`, messages as they are, and each collective as
/// messages by a plain algorithm, which a comment names. GOAL has no one-sided communication and no files: what is left
/// out is counted in a comment. Errors: those of read_trace().
Result<Goal> to_goal(const std::string& folder);

}  // namespace holdfast::record
