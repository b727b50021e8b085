#pragma once

#include <cstdint>

namespace holdfast::replicate {

/// What a waiting process waits for, so that silence can be told from patience.
struct Awaited {
  enum class What : std::uint8_t {
    own_world,   ///< a message or collective of the application, in this replica's own world
    verdict,     ///< what another replica says of a message that has arrived here
    decision,    ///< the leader's answer
    answer,      ///< whether the leader asks the system what is asked here
    turn,        ///< a call that another thread of this process is to make first (thread_order.h)
    correction,  ///< the good copy of a corrupted message
    team,        ///< the other replicas of this rank, at the end
  };
  What what = What::own_world;
  int rank = -1;     ///< virtual rank of the awaited process; -1: any
  int replica = -1;  ///< its replica; -1: any
};

}  // namespace holdfast::replicate
