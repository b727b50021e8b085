#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::replicate {

/// A place where copies may differ, such as uninitialised padding that a program sends along. Members left at -1 fit
/// all.
struct TolerancePlace {
  int rank = -1;  ///< the sender
  int tag = -1;
  long bytes = -1;   ///< length of the message or result
  std::string call;  ///< the receiving function or the collective, such as MPI_Alltoall
};

/// "tag 7", "rank 0 tag 3", "call MPI_Alltoall bytes 64"; several separated by ';'. Errors: bad_input, naming the word.
Result<std::vector<TolerancePlace>> parse_tolerance(std::string_view text);
void set_tolerance(std::vector<TolerancePlace> places);
/// Whether the user allows the copies of this message, or of this result (whose rank and tag are -1), to differ; counts
/// it when so.
bool tolerated(const TolerancePlace& place);

}  // namespace holdfast::replicate
