#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replicate/engine/vote.h"

namespace holdfast::replicate {

/// What a replica of the receiver says to another one in a dispute about one message. A replica that has not said
/// anything yet is silent; `agrees` is its word that the message it received is the one whose digest it was given.
struct Statement {
  enum class Kind : std::uint32_t {
    probe,        ///< "mine differs from the digest I was given; what have you got?"
    acknowledge,  ///< the answer of one that is in the same dispute and had not asked
    agrees,       ///< the answer of one whose message and digest agree
    lacks,        ///< "mine was altered on its way, and all others have delivered theirs: do you still have it?"; it is
                  ///< answered with a copy, or with `agrees`
  };
  Kind kind = Kind::probe;
  Ballot own{};    ///< of the message that the replica received; not for `agrees`
  Ballot below{};  ///< of the message of the sender replica below, as that one announced it; not for `agrees`
  /// The message filled its buffer, so that more may have been sent than arrived. MPI cannot be relied on to say so
  /// before the application completes the receive.
  bool own_may_be_cut = false;
};

/// A dispute over one message at one replica of the receiver, under msg-plus-hash with three replicas or more.
///
/// Sender replica s sends its message to receiver replica s and the digest of it to receiver replica s + 1 round the
/// ring (RedMPI, section 3.2.2). A receiver whose message and digest differ knows that one of two senders is wrong, and
/// probes the replica below. With three replicas, that probe and its acknowledgement settle it, since the two of them
/// have seen what all three senders sent, and no answer of a replica that saw nothing is waited for. With more the
/// probe goes to all replicas: what two neighbours know is then no majority of the senders.
///
/// Collects what replicas say until it follows from that what each sender sent. Every replica that is in the dispute
/// comes to the same ruling. No I/O; one thread at a time.
class Dispute {
 public:
  enum class Ruling : std::uint8_t {
    open,           ///< somebody has yet to speak
    keep,           ///< the message received is the majority's
    replace,        ///< another is: supplier() sends it
    no_majority,    ///< no value was sent by more than half of the senders
    taken,          ///< neighbouring senders sent the same wrong message, so that a receiver took it for good
    altered,        ///< all others have one and the same: the message received was altered on its way, or the digest
    contradiction,  ///< a sender announced another digest than that of its message
  };

  /// What is to be sent to whom now.
  struct Telling {
    int to;
    Statement::Kind kind;
  };

  /// `said.own` and `said.below` differ. Appends whom to probe.
  Dispute(int degree, int replica, const Statement& said, std::vector<Telling>& tell);

  /// Another replica spoke about this message. Appends whom to answer.
  void hear(int from, const Statement& said, std::vector<Telling>& tell);

  Ruling ruling() const { return ruling_; }
  /// What this replica has to say, as a statement of this kind.
  Statement statement(Statement::Kind kind) const;
  /// What each sender replica sent; `known` is false where that is not clear yet.
  std::span<const Ballot> senders() const { return senders_; }
  /// The majority's ballot. Requires the ruling keep or replace.
  const Ballot& good() const { return senders_[static_cast<std::size_t>(verdict_.winner)]; }
  /// What the sender below announced.
  const Ballot& said_below() const { return said_.below; }
  /// The replicas to which this one must send its message: those below it, down to the next that has a good one.
  std::vector<int> supplied() const;
  /// A replica that was spoken to and has not spoken, -1 when there is none.
  int silent() const;
  /// Every replica that was spoken to has spoken: nobody will speak about this message again.
  bool heard_out() const { return silent() < 0; }

 private:
  int below(int replica) const { return (replica + degree_ - 1) % degree_; }
  bool all_clear() const;
  bool all_others_agree() const;
  Ruling on_contradiction() const;
  void tell(int to, Statement::Kind kind, std::vector<Telling>& out);
  bool learn(int sender, const Ballot& ballot, bool may_be_cut);
  void conclude();

  int degree_;
  int replica_;
  Statement said_;
  std::vector<Ballot> senders_;
  std::vector<bool> may_be_cut_;  ///< by sender replica: it may have sent more than its ballot says
  std::vector<bool> agrees_;      ///< by receiver replica: said that its sender and the one below sent the same
  std::vector<bool> disputes_;    ///< said that they did not
  std::vector<bool> told_;
  std::vector<bool> heard_;
  bool contradicted_ = false;
  Verdict verdict_;
  Ruling ruling_ = Ruling::open;
};

}  // namespace holdfast::replicate
