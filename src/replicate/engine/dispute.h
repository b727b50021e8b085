#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "replicate/engine/record.h"
#include "replicate/engine/vote.h"

namespace holdfast::replicate {

/// What the owner of an Arbiter has to do next. Actions are taken in order.
struct Action {
  enum class Kind {
    send,     ///< send `record` to the team's replica `replica`
    supply,   ///< send a correction record for `id` and then the message's bytes to `replica`. The copy is the live
              ///< buffer when the dispute is still open here, the archived one after archive()
    archive,  ///< keep a copy of the message's bytes until release(): another replica may still fetch it
    release,  ///< the archived copy of `id` is no longer needed
    accept,   ///< the own copy of `id` is good: deliver it
    fail,     ///< cannot be corrected; `reason` says why, naming replicas. The job must end
  };
  Kind kind{};
  int replica = -1;
  MessageId id;
  Record record;
  std::string reason;
};

/// Settles, inside one receiver replica, the messages whose copy and neighbour's digest differ (protocol
/// msg-plus-hash).
///
/// Replica j got its copy from sender replica j and the digest from sender replica j-1 (ring). A corrupt sender c makes
/// receivers c (bad copy) and c+1 (bad digest) see a mismatch. First the paper's discovery (RedMPI section 3.2.2,
/// Figure 6) runs: a probe with the own copy's digest goes down; the replica that finds the probe equal to the digest
/// it was given knows that its own copy is the bad one, acknowledges upward, and is sent the copy. Probes name the
/// message and its digest, so that stale ones are recognised. Where the paper's hand-shake cannot settle it (the
/// replica below rejects the probe, and the one above is clean or its probe was rejected here: several corrupt
/// replicas), all replicas vote, and the losers fetch the majority's copy. Without a majority, or when a replica had
/// already accepted a losing copy, the outcome is `fail`, never a guess.
///
/// Does no I/O, reads no clock, has no threads; one per process, used by one thread at a time. Degree >= 3.
class Arbiter {
 public:
  /// replica in [0, degree). `history` is how many clean messages are remembered for late questions.
  Arbiter(int replica, int degree, std::size_t history = 65536);
  ~Arbiter();
  Arbiter(const Arbiter&) = delete;
  Arbiter& operator=(const Arbiter&) = delete;

  /// The copy and the neighbour's digest of `id` agree. Hot path: constant time, no allocation after construction.
  void clean(const MessageId& id, const integrity::Digest& digest, std::uint64_t bytes);

  /// They differ. Opens a dispute that ends with accept, corrected() or fail.
  void open(const MessageId& id, const Ballot& own, const Ballot& neighbour);

  /// A control record (probe .. fetch) from the team's replica `from`. Unknown or stale ones are counted and ignored.
  void receive(int from, const Record& record);

  /// The corrected bytes of `id` arrived and have this ballot. Closes the dispute with accept when it is the copy that
  /// was agreed on, and with fail otherwise.
  void corrected(const MessageId& id, const Ballot& arrived);

  /// True while `id` is neither accepted nor failed.
  bool disputed(const MessageId& id) const;
  std::size_t open_disputes() const;

  /// Moves the next action out; false when there is none.
  bool next(Action& action);

  struct Counters {
    std::uint64_t disputes = 0;        ///< mismatches seen here
    std::uint64_t corrected_here = 0;  ///< own copy was bad and was replaced
    std::uint64_t supplied = 0;        ///< copies sent to others
    std::uint64_t votes = 0;           ///< disputes that needed the vote
    std::uint64_t stale_records = 0;   ///< control records that fitted nothing
  };
  const Counters& counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::replicate
