#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/integrity/digest.h"

namespace holdfast::replicate {

/// One replica's ballot: the digest and the length of its copy.
struct Ballot {
  integrity::Digest digest;
  std::uint64_t bytes = 0;
  bool known = true;  ///< false: this replica could not say; it counts as one that disagrees with everybody
  friend bool operator==(const Ballot& a, const Ballot& b) {
    return a.known && b.known && a.digest == b.digest && a.bytes == b.bytes;
  }
};

/// Outcome of a vote over all replicas of one message or result.
struct Verdict {
  bool unanimous = false;
  /// Replica (index into the ballots) that holds the majority's copy, -1 when no value has more than half of the
  /// ballots.
  int winner = -1;
};

/// The simple majority of RedMPI section 3.2.1: more than half of all replicas. Any number of ballots; any thread.
Verdict vote(std::span<const Ballot> ballots);

/// The replica that must send its copy to `loser`: the next one above it on the ring that holds the good one. Requires
/// that one does.
int holder_for(int loser, const Ballot& good, std::span<const Ballot> held);

/// " (replica 0: 0123..., 8 bytes; replica 1: ...)" for messages to people.
std::string ballot_list(std::span<const Ballot> ballots);

}  // namespace holdfast::replicate
