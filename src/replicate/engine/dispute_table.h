#pragma once

#include <unordered_map>
#include <vector>

#include "replicate/engine/dispute.h"
#include "replicate/engine/record.h"

namespace holdfast::replicate {

/// All disputes of one process, and the answers that it owes to the other replicas of its rank.
///
/// A question about a message that this replica has not compared yet waits until it has. One about a message whose copy
/// agreed is answered from the fact that it was compared and is in no dispute here, so that nothing is kept of messages
/// about which there is no dispute. A dispute stays until the message is delivered and everybody who was asked has
/// answered; after that nobody asks about it again. So what is kept is bounded by how far one replica lags behind
/// another, and is nothing once all have caught up.
///
/// No I/O; one thread at a time.
class DisputeTable {
 public:
  struct Message {
    int to;
    MessageId id;
    Statement statement;
  };

  DisputeTable(int degree, int replica) : degree_(degree), replica_(replica) {}

  /// This replica's message and the digest it was given differ.
  void open(const MessageId& id, const Ballot& own, const Ballot& below, bool own_may_be_cut = false);
  /// They agree. Need be told only while awaited().
  void agreed(const MessageId& id);
  /// Another replica spoke. `compared`: this replica has compared the message.
  void hear(int from, const MessageId& id, const Statement& said, bool compared);
  /// The message has been delivered.
  void close(const MessageId& id);

  /// The dispute about a message, null when there is none or it is over. Valid until the next call.
  const Dispute* find(const MessageId& id) const;
  /// Others wait for this replica to compare a message.
  bool awaited() const { return !waiting_.empty(); }
  /// Nothing is open, nobody waits for an answer, and no answer is on its way here.
  bool empty() const { return waiting_.empty() && cases_.empty(); }

  /// What is to be sent; emptied by the caller.
  std::vector<Message>& outgoing() { return outgoing_; }

 private:
  struct Case {
    Dispute dispute;
    bool delivered = false;
  };
  struct Question {
    int from;
    Statement statement;
  };
  using Cases = std::unordered_map<MessageId, Case, MessageIdHash>;

  void send(const MessageId& id, const Dispute& dispute);
  void forget_if_over(Cases::iterator which);

  int degree_;
  int replica_;
  Cases cases_;
  std::unordered_map<MessageId, std::vector<Question>, MessageIdHash> waiting_;
  std::vector<Message> outgoing_;
  std::vector<Dispute::Telling> telling_;
};

}  // namespace holdfast::replicate
