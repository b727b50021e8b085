#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status/status.h"

namespace holdfast::replicate {

/// How many processes play each rank, as users ask for it (docs/design/partial-replication.md):
///
///   3               every rank has three
///   2.5             two, and every second rank a third: ranks 0, 2, 4 and so on
///   1,3:0,2:4-7     one, but rank 0 three, and ranks 4 to 7 two
///
/// Of a fraction f beyond the point, the first n ranks have n f more processes, rounded up, so that they are spread
/// evenly and rank 0, which reads input and collects results in most programs, is among those with more. Immutable; any
/// thread.
class Degrees {
 public:
  static constexpr int most = 1024;

  /// Error: bad_input, with the word that is wrong.
  static Result<Degrees> parse(std::string_view text);

  /// By rank, in a job of so many. Error: bad_input where a rank is named that it has not, or there are too many.
  Result<std::vector<int>> of(int ranks) const;
  /// How many ranks so many processes play; nothing where it does not come out even.
  std::optional<int> ranks(int processes) const;
  /// One process plays each rank, whatever their number.
  bool single() const;

 private:
  struct Exception {
    int first;
    int last;
    int degree;
  };
  int of_rank(int rank) const;
  int highest_named() const;

  int base_ = 1;
  long more_ = 0;  ///< of `of_` ranks, so many have one process more
  long of_ = 1;
  std::vector<Exception> exceptions_;  ///< the last one that names a rank counts
};

/// Whether an option's text asks for more than one process for any rank; false where it cannot be read.
bool asks_for_replicas(std::string_view degrees);

}  // namespace holdfast::replicate
