#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "replicate/engine/record.h"

namespace holdfast::replicate {

/// Wildcards of a posted receive or probe.
inline constexpr std::int32_t any_source = -2000000001;
inline constexpr std::int32_t any_tag = -2000000002;

/// Gives every receive of one communicator its place: the channel it matched and its ordinal there, so that a message
/// and the digest that travelled apart from it find each other, whatever order receives complete in.
///
/// MPI matches the messages of a channel to receives in the order in which the receives were posted (MPI 3.1, 3.5). So
/// a receive without wildcards gets its ordinal when it is posted, unless an earlier wildcard receive that could take
/// its message has not matched yet; then it waits for that one. A wildcard receive gets its ordinal when its match is
/// known: at the leader when MPI completes it, at the followers when the leader says. Followers also must not hand a
/// waiting receive to MPI before it is placed, or it could steal an earlier wildcard's message: `placed()` tells when.
///
/// No I/O, no threads; one per communicator and process.
class ReceiveOrder {
 public:
  ReceiveOrder();
  ~ReceiveOrder();
  ReceiveOrder(ReceiveOrder&&) noexcept;
  ReceiveOrder& operator=(ReceiveOrder&&) noexcept;

  /// Numbers the receives of this communicator in posting order, from 0: replicas that post alike get the same tickets.
  using Ticket = std::uint64_t;

  /// Registers a receive in posting order. source and tag may be wildcards. Constant time when no wildcard is pending.
  Ticket post(std::int32_t source, std::int32_t tag);
  /// The match of a wildcard receive is known. May place it and later receives; they are appended to `now_placed` in
  /// posting order. An unknown ticket, or one without wildcards, changes nothing.
  void resolve(Ticket ticket, std::int32_t source, std::int32_t tag, std::vector<Ticket>& now_placed);
  /// The receive was cancelled before it matched; it takes no message, and its ticket is forgotten. May place later
  /// ones. When it had an ordinal already, the later receives of its channel, none of which can have matched, move down
  /// by one: place() changes for them, and they are appended to `moved`, if given, in the order of their ordinals.
  void cancel(Ticket ticket, std::vector<Ticket>& now_placed, std::vector<Ticket>* moved = nullptr);
  /// True when the ticket's channel and ordinal are known.
  bool placed(Ticket ticket) const;
  /// Its channel (communicator left 0) and ordinal. Requires placed().
  MessageId place(Ticket ticket) const;
  /// The receive is over; the ticket is forgotten. If it is not placed yet, it still takes its message's ordinal when
  /// its turn comes, without appearing in `now_placed`; a wildcard receive must still be resolved for that.
  void done(Ticket ticket);
  /// Number of wildcard receives that have not been resolved.
  std::size_t unresolved_wildcards() const;
  /// True when an unresolved wildcard receive posted earlier could match (source, tag), wildcards included.
  bool blocked(std::int32_t source, std::int32_t tag) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::replicate
