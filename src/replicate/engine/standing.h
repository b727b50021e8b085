#pragma once

#include <cstdint>
#include <optional>

#include "replicate/engine/call_history.h"

namespace holdfast::replicate {

/// Where another replica of this rank stands, as it says itself when it is asked.
struct Standing {
  std::uint64_t calls = 0;                      ///< made by it
  std::uint64_t hash = 0;                       ///< of those
  std::optional<std::uint64_t> hash_at_askers;  ///< of as many as the asker had made, where it has made them too
  bool waits_for_replicas = false;              ///< for what others say, and not for its own world
  bool parted = false;                          ///< it did something else than the leader
};

/// Where this replica stands.
struct OwnStanding {
  const CallHistory& history;
  bool waits_for_replicas = false;
  bool parted = false;
};

/// Whether the other one has made calls that this one has not made, or the other way round: their histories differ at
/// the last call that both have reached. No when that is too long ago to tell.
bool made_other_calls(const CallHistory& own, const Standing& other);

/// Whether this replica says that the other one has diverged, after neither got on for as long as the silence limit
/// (dead-replicas.md). `other` is nothing where it does not answer. It has when its calls are others; when it has
/// parted from the leader, and this one has not; or when this one waits for what others have to say, and the other is
/// behind, or waits for its own world, which then is no longer whole or has no such call to come.
///
/// In the majority all have made the same calls and wait alike for the one that is missing, so that none of them says
/// so of another one of it.
bool has_diverged(const OwnStanding& own, const std::optional<Standing>& other);

}  // namespace holdfast::replicate
