#pragma once

#include "replicate/engine/record.h"

namespace holdfast::replicate {

/// What the rooms above this one do for progress(), which knows none of them: implemented where all are known
/// (life/looks.cc). One thread at a time.
class Looks {
 public:
  virtual ~Looks() = default;
  /// Moves on what can: receives, collectives, requests that the application freed. Never blocks.
  virtual void advance() = 0;
  /// A record of a replica of this rank, or of a sender, that neither the engine nor this room takes.
  virtual void hear(int replica, const Record& record) = 0;
  /// What the leader alone holds in its hands, so that no other replica can take it over; null where there is nothing.
  virtual const char* held_by_leader() = 0;
};

}  // namespace holdfast::replicate
