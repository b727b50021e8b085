#include "replicate/engine/standing.h"

namespace holdfast::replicate {

bool made_other_calls(const CallHistory& own, const Standing& other) {
  if (other.calls > own.count()) return other.hash_at_askers && *other.hash_at_askers != own.hash();
  const std::optional<std::uint64_t> then = own.hash_after(other.calls);
  return then && *then != other.hash;
}

bool has_diverged(const OwnStanding& own, const std::optional<Standing>& other) {
  if (!other) return own.waits_for_replicas;
  if (made_other_calls(own.history, *other)) return true;
  if (other->parted && !own.parted) return true;
  if (!own.waits_for_replicas) return false;
  return other->calls < own.history.count() || !other->waits_for_replicas;
}

}  // namespace holdfast::replicate
