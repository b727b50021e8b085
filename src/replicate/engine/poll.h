#pragma once

#include <cstdint>
#include <vector>

#include "replicate/engine/vote.h"

namespace holdfast::replicate {

/// What the replicas of a rank say that they have of one result.
struct Poll {
  std::vector<Ballot> ballots;        ///< by replica; not known where it has said nothing yet
  std::vector<std::uint64_t> whats;   ///< likewise: what of the thing it compares, for the adapter
  std::vector<std::uint8_t> signals;  ///< likewise: whose handler the program is to be called by then, for the adapter
  std::uint16_t function = 0;         ///< the call that gives the result, for the adapter
};

}  // namespace holdfast::replicate
