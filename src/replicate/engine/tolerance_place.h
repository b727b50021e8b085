#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::replicate {

/// A place where copies may differ, such as uninitialised padding that a program sends along. Members left at -1, and
/// an empty call, fit all.
struct TolerancePlace {
  int rank = -1;  ///< the sender
  int tag = -1;
  long bytes = -1;   ///< length of the message or result
  std::string call;  ///< the receiving function or the collective, such as MPI_Alltoall

  /// Whether what lies at `there` is meant.
  bool fits(const TolerancePlace& there) const;
};

/// "tag 7", "rank 0 tag 3", "call MPI_Alltoall bytes 64"; several separated by ';'. Errors: bad_input, naming the word:
/// a word that is none, no number, a number beyond the type, a word that is there twice.
Result<std::vector<TolerancePlace>> parse_tolerance(std::string_view text);

}  // namespace holdfast::replicate
