#pragma once

#include <vector>

namespace holdfast::replicate {

/// The replicas of one rank as one of them sees them: who it is, who is left, and who decides. Changes only where the
/// adapter says that a replica was taken out.
struct Membership {
  int rank = 0;               ///< of the application
  int replica = 0;            ///< which of its replicas this process plays
  int degree = 1;             ///< how many replicas the rank has
  std::vector<char> gone{0};  ///< by replica, of the rank that has most: taken out
  int leading = 0;            ///< the replica that decides: the lowest that is left
  int present = 1;            ///< how many are left

  bool leader() const { return replica == leading; }
  bool here(int of_replica) const { return gone[static_cast<std::size_t>(of_replica)] == 0; }
  /// The next one round the ring of replicas.
  int above() const { return (replica + 1) % degree; }
  int below() const { return (replica + degree - 1) % degree; }
};

}  // namespace holdfast::replicate
