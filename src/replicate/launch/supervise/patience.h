#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replicate/engine/membership_message.h"

namespace holdfast::launch {

/// Tells a process that computes, and makes no call of MPI meanwhile, from one that is lost: of both the processes that
/// wait for it hear nothing. Those say for whom they wait (MembershipMessage: waits); then all are asked what they do
/// (look), a thread of theirs answers, and whoever waits is told whether it waits for work
/// (docs/design/dead-replicas.md). Members are numbered rank x degree + replica. No I/O, no clock; one thread at a
/// time.
class Patience {
 public:
  using MembershipMessage = replicate::MembershipMessage;

  /// `limit_s`: the silence limit.
  Patience(int ranks, int degree, double limit_s);

  /// A member waits for that replica of that rank, -1: for any replica, of rank -1: for its own world. True when it is
  /// time to ask all what they do.
  bool waits(int member, int rank, int replica, double seconds);
  /// A member has said what it does.
  void outside(int member, std::uint64_t used_ms, std::uint64_t points, double seconds);
  void inside(int member);
  /// Is no more.
  void leave(int member);

  /// Whether one for whom this member waits computes, directly or at the end of a chain of members that wait for one
  /// another. Without end for nobody: a member that has used as much processor time as ten silence limits since its
  /// last call of MPI has lost its way.
  bool waits_for_work(int member, double seconds) const;

 private:
  struct Wait {
    int rank;
    int replica;
    double said;  ///< seconds
  };
  /// Time in the program's own code, between two of its agreed points.
  struct Stretch {
    std::uint64_t points;
    std::uint64_t first_used_ms;  ///< when it was first seen in it
    std::uint64_t used_ms;
    double seen;
    bool advances;  ///< it has used processor time between the last two looks
  };
  struct Member {
    std::optional<Wait> wait;
    std::optional<Stretch> stretch;  ///< none: in MPI, or unknown
  };
  /// Members of one rank and one replica, -1: of any.
  struct Awaited {
    int rank;
    int replica;
  };
  bool computes(const Member& member, double seconds) const;
  Awaited awaited_by(std::size_t member, double seconds) const;
  std::vector<std::size_t> members_of(Awaited awaited) const;

  std::size_t degree_;
  double limit_s_;
  double asked_ = -1e9;
  std::vector<Member> members_;
};

}  // namespace holdfast::launch
