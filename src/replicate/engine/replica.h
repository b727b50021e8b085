#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replicate/engine/control_message.h"
#include "replicate/engine/counters.h"
#include "replicate/engine/decisions.h"
#include "replicate/engine/delivered_messages.h"
#include "replicate/engine/dispute_table.h"
#include "replicate/engine/host.h"
#include "replicate/engine/inbox.h"
#include "replicate/engine/membership.h"
#include "replicate/engine/options.h"
#include "replicate/engine/pending_wildcards.h"
#include "replicate/engine/poll.h"
#include "replicate/engine/replica_map.h"
#include "replicate/engine/verified.h"

/// The protocol of one replica of one rank: which receive gets which message in all replicas, what the others say of
/// it, disputes, votes and corrections (RedMPI, sections 3.2 and 3.3). It does no I/O, reads no clock, has no threads
/// and no globals: the adapter around it (src/replicate/mpi) or a simulated world (src/replicate/world) drives it from
/// one thread at a time, and it acts through Host. docs/design/replication-engine.md.
namespace holdfast::replicate {

/// A message of this rank that was sent in its own world.
struct Outgoing {
  std::uint64_t communicator = 0;
  std::int32_t source = 0;  ///< this rank in the communicator
  std::int32_t tag = 0;
  int to_rank = 0;            ///< of the application
  std::uint64_t ordinal = 0;  ///< its name in all replicas: the number of messages to there before it
};

class Replica final : private DecisionListener {
 public:
  struct Setup {
    Protocol protocol{};
    OnCorruption on_corruption{};
    bool survives = false;  ///< the job goes on without a replica that is gone
    /// Shorter messages than this are copied while they are sent, so that nothing alters them after their digest is
    /// out.
    std::uint64_t copied_below = 1024;
  };
  /// All but `setup` must stay.
  Replica(const Setup& setup, const Membership& team, const ReplicaMap& map, Counters& counters, Host& host);

  // --- sending (replica_send.cc)

  /// A message leaves this rank: tells the receivers in the other replicas what it must be.
  void announce(const Outgoing& message, const Contents& contents);

  // --- receives and their order (replica_receive.cc)

  /// A receive is posted on a communicator: given to MPI at once, or, at a follower behind an unresolved wildcard, when
  /// its turn comes. `source` and `tag` may be any_source and any_tag. `poster`: of several threads, who posts.
  void post(Verified& receive, std::uint64_t communicator, ReceiveOrder& order, std::int32_t source, std::int32_t tag,
            std::uint32_t poster);
  /// One that has its message already, from a matched probe.
  void post_matched(Verified& receive, const MessageId& place);
  /// MPI has finished with the receive, whose message is from there.
  void arrived(Verified& receive, std::int32_t source, std::int32_t tag, bool failed);
  /// Moves a receive as far as it goes now; true when it is complete. Not in stage `native`.
  bool advance(Verified& receive);
  /// It was delivered.
  void over(Verified& receive);

  /// The leader's receive was cancelled before it matched, so none has a message here either. Where this one's had come
  /// already, the next receive of its channel gets it, and gives its own to the one after it; what the last one had is
  /// kept for the next receive that fits.
  void cancelled(Verified& receive);
  struct Requeued {
    std::uint64_t communicator = 0;
    std::int32_t source = 0;
    std::int32_t tag = 0;
    /// How far it had come with the receive that had it: another replica may have asked about it.
    Verified::Stage stage = Verified::Stage::placing;
    MessageId identity;
    Ballot own;
    int supplier = -1;
    Verified::Counted counted = Verified::Counted::elements;
    bool refused = false;  ///< MPI had reported an error of it
    Copy bytes;
  };
  /// A requeued message that such a receive would take; null when there is none.
  const Requeued* find_requeued(std::uint64_t communicator, std::int32_t source, std::int32_t tag) const;

  /// Whether a message that MPI would find for a probe now may belong to a wildcard receive that MPI has not got yet.
  bool probe_must_wait(const ReceiveOrder& order, std::int32_t source, std::int32_t tag) const;
  /// The leader's probe has found a message from there, so that MPI has given the wildcard receives before it, which
  /// could take it, another one, but has not said so of all. What the probe found must not be told before that: a
  /// replica that leads next, and knows of the probe alone, could give the message to such a receive.
  bool match_is_unsaid(const ReceiveOrder& order, std::int32_t source, std::int32_t tag) const;

  /// Whether receives on this communicator are still to be given to MPI.
  bool has_waiting_receives(std::uint64_t communicator) const { return waiting_.contains(communicator); }
  /// From here on this replica posts wildcard receives as they are: at the start replica 0. One that leads after
  /// another does that by itself when it has heard all that that one said.
  void take_lead();
  /// Cheap, and asked at every look.
  bool has_unresolved_wildcards() const { return !wildcards_.empty(); }
  /// Wildcard receives with MPI whose matches only this replica can know: up to `most` of the oldest, and as many
  /// others in turn (pending_wildcards.h). Good until the next call.
  std::span<Verified* const> matches_to_look_for(std::size_t most);

  // --- answers that MPI may give differently in each replica (decisions.h)

  Decisions& decisions() { return decisions_; }
  const Decisions& decisions() const { return decisions_; }

  // --- comparing (replica_compare.cc, replica_correct.cc, replica_dispute.cc)

  /// The ballots of all replicas on `result` are in: it is complete, or in dispute, or the job ends.
  void settle(Verified& result, std::span<const Ballot> ballots, std::span<const Copy> copies = {});
  /// Whether the correction of one in dispute has come.
  bool take_correction(Verified& verified);
  /// Whether the vote on a result's blocks is over (replica_contest.cc), which ends the job where one has no majority.
  bool take_contest(Verified& result);
  /// Whether it is known if a reduction without a majority is made again: it is in stage `repeated`
  /// (replica_repeat.cc).
  bool take_repeat(Verified& result);
  /// Sends this replica's copy to another one of its rank, or to all that are left.
  void supply(const Verified& verified, int replica);
  void supply_all(const Verified& verified);
  /// A copy that another replica supplied without a dispute; null while it has not come.
  Copy take_copy(const MessageId& identity);
  bool alike_in_those_left(std::span<const Ballot> ballots) const;

  // --- results (replica_result.cc)

  /// Tells the other replicas of this rank what this one has of the result of that name. The others are the
  /// adapter's, and are handed on (poll.h).
  void offer(const MessageId& result, const Ballot& own, std::uint16_t function = 0, std::uint64_t what = 0,
             std::uint8_t signal = 0);
  /// What all replicas that are left have said of it; nothing while one has not. Gives it out once.
  std::optional<Poll> take_poll(const MessageId& result);
  using Polls = std::unordered_map<MessageId, Poll, MessageIdHash>;
  /// Those that are not complete.
  const Polls& polls() const { return polls_; }

  // --- from others

  /// A control message that ControlReader let pass, of a kind that is the engine's. False: it is another part's.
  bool on_message(const ControlMessage& message);
  void on_copy(std::uint64_t token);
  /// `Membership` says that a replica is gone, and who leads since; what it was sending will never come.
  void peer_gone(int replica);

  /// Others wait for this replica's word on messages that its application may not wait for yet: those that have arrived
  /// are to be advanced, and then said() called.
  bool others_wait() const { return !asked_for_.empty() || (disputes_ && disputes_->awaited()); }
  void said();

  /// No dispute is open, and nobody is owed an answer.
  bool at_rest() const { return !disputes_ || disputes_->empty(); }
  /// What others said of messages and results that never came.
  std::size_t verifications_left() const { return inbox_.waiting() + polls_.size(); }
  /// What is kept of messages that are not over, for a person; empty when there is nothing.
  std::string kept() const;
  /// Under msg-plus-hash with more than three replicas one may be needed for a message that is long past here.
  bool answers_late() const { return disputes_ && team_.degree > 3; }
  /// How many messages each replica of each rank had wrong: (rank, replica) -> count.
  const std::map<std::pair<int, int>, std::uint64_t>& wrong_copies() const { return wrong_copies_; }

 private:
  using Waiting = std::map<ReceiveOrder::Ticket, Verified*>;
  struct Match {
    std::int32_t source;
    std::int32_t tag;
    std::uint32_t poster;
  };
  /// A copy on its way here.
  struct Transfer {
    RecordKind kind;
    MessageId id;
    int from_replica;
    std::shared_ptr<std::vector<std::byte>> bytes;
    std::vector<Stream>* streams = nullptr;  ///< all-to-all: where the copy belongs
    std::uint64_t ordinal = 0;
  };

  /// Under msg-plus-vote: a loser of a vote asks for the good copy.
  struct Question {
    int from_replica;
    MessageId id;
    Ballot held;  ///< what the one that asks has
  };

  /// What it has asked another replica for.
  struct Asked {
    std::string about;
    Ballot held{};              ///< what it has itself
    int of = -1;                ///< the replica that was asked last
    std::vector<char> tried{};  ///< by replica: was asked whether it still has it
  };

  /// A result of which no whole copy has a majority.
  struct Contest {
    std::map<int, Copy> copies;   ///< by replica, as far as they have come; with this one's own once it takes part
    std::vector<Ballot> ballots;  ///< that it voted on, and
    int present = 0;              ///< how many replicas were left then
  };

  /// A reduction that has no majority here.
  struct Repeat {
    Verified* result = nullptr;               ///< null while this replica has not voted
    std::vector<Ballot> ballots;              ///< that it voted on
    std::vector<Process> without;             ///< those that have no majority either
    std::optional<std::uint64_t> departures;  ///< another has one, and had heard of so many
  };
  /// Those of one communicator, by their numbers.
  struct Reductions {
    std::uint64_t past = 0;                  ///< all below are
    std::uint64_t repeated = 0;              ///< the last that was made again, and one; 0: none
    std::vector<std::uint64_t> first_after;  ///< by departure: the first that was settled when it had been heard of
  };
  static constexpr std::uint16_t no_majority_here = 0;
  static constexpr std::uint16_t majority_here = 1;

  void send_digest(Process to, const Record& digest);
  void send_copy(Process to, const Outgoing& message, const Copy& copy);
  void announce_to_those_without(const Outgoing& message, const Contents& contents);

  void on_match(std::uint64_t number, std::int32_t source, std::int32_t tag, std::uint32_t poster) override;
  void on_answers(std::uint64_t book, std::span<const Decision> decisions) override {
    host_.take_answers(book, decisions);
  }
  void on_turn(std::uint64_t thread) override { host_.wake_for_turn(thread); }
  void on_lead() override { take_lead(); }

  void give_to_mpi(Verified& receive);
  void post_now_placed(std::uint64_t communicator, const std::vector<ReceiveOrder::Ticket>& tickets);
  void resolve(Verified& receive, std::int32_t source, std::int32_t tag);
  bool holds_message(Verified& receive);
  Requeued give_up(Verified& receive);
  void requeue(Requeued message);
  void take(Verified& receive, const Requeued& message);
  bool forget_wildcard(const Verified& receive);

  void read_message(Verified& receive);
  int senders_of(const Verified& receive) const;
  bool compare(Verified& receive);
  bool compare_with_below(Verified& receive);
  bool compare_with_all(Verified& receive);
  void deliverable(Verified& receive);
  Ballot comparable(Verified& receive, const Arrival& said) const;
  bool mistaken_everywhere(const Verified& receive, std::span<const Ballot> ballots, std::size_t own) const;
  void require_supply(const Verified& receive, std::span<const Ballot> ballots);
  void ask_for_correction(const Verified& receive, std::span<const Ballot> ballots);
  void on_question(int from_replica, const MessageId& id, const Ballot& held);
  void on_late_answer(int from_replica, const MessageId& id);
  void note_delivered(const Verified& receive);
  Copy recall(const MessageId& message);
  void on_want(int from_replica, const MessageId& id, const Ballot& held);
  bool correction_is_coming(const MessageId& id) const;
  void ask_who_still_has_it(const Verified& receive, int first);
  void ask_next(const MessageId& id, Asked& asked);
  void send_correction(Process to, const MessageId& id, const Copy& bytes);
  void answer_questions(const Verified& verified, const Ballot& good, std::span<const Ballot> held);
  bool needs_supply(const Verified& verified, const Ballot& good, std::span<const Ballot> held,
                    const Question& question) const;
  void answer_too_late(const Question& question);

  void open_dispute(Verified& receive, const Ballot& announced);
  bool advance_dispute(Verified& receive);
  bool keep(Verified& receive, const Dispute& dispute);
  bool replace(Verified& receive, const Dispute& dispute);
  bool take_what_others_have(Verified& receive);
  void leave_dispute(Verified& receive);
  [[noreturn]] void end_hopeless(const Verified& receive, const Dispute& dispute);
  void send_statement(int to_replica, const MessageId& id, const Statement& statement);
  void send_statements();
  void on_statement(const ControlMessage& message);
  bool compared(const MessageId& id);

  void on_digest(const ControlMessage& message);
  void on_ballot(const ControlMessage& message);
  Poll& poll_of(const MessageId& result);
  void on_announced_copy(const ControlMessage& message);
  void decide(Verified& verified, std::span<const Ballot> ballots, std::span<const Copy> copies);
  bool go_into_parts(Verified& result, std::span<const Ballot> ballots);
  void send_again(Process to, const MessageId& reduction, std::uint16_t word, std::uint64_t departures);
  std::vector<Process> others_that_get(const Verified& result) const;
  void ask_to_repeat(Verified& result, std::span<const Ballot> ballots);
  void note_reduction(const MessageId& name, std::size_t departures);
  void answer_askers(const Verified& result, std::size_t departures);
  void on_again(const ControlMessage& message);
  void settle_like_another(Verified& result, std::uint64_t departures);
  void settle_as_voted(Verified& result, const Ballot& good, std::span<const Ballot> ballots);
  bool unsettled(const MessageId& identity) const;
  void send_contested(int to_replica, const MessageId& result, const Copy& own);
  void answer_contests(const Verified& result);
  bool contest(Verified& result, std::span<const Ballot> ballots);
  bool settle_without_the_dead(Verified& result);
  bool settle_by_correction(Verified& result);
  bool all_contested_here(const std::map<int, Copy>& copies) const;
  void note_culprit(const Verified& verified, int replica);
  void note_outvoted(const Verified& verified, const Ballot& good, std::span<const Ballot> ballots);
  int giver(const Verified& verified) const;
  void overwrite(Verified& verified, std::span<const std::byte> bytes);
  Ballot ballot_of_copy(const Verified& verified, std::span<const std::byte> bytes) const;
  std::vector<Ballot> held_copies(std::span<const Ballot> ballots) const;
  void supply_those_without(const Verified& verified, const Ballot& good, std::span<const Ballot> ballots);
  void report_pair(const Verified& verified, const Ballot& other);
  std::string described(const Verified& verified) const;
  std::string no_majority(std::span<const Ballot> ballots) const;

  Setup setup_;
  const Membership& team_;
  const ReplicaMap& map_;
  Counters& counters_;
  Host& host_;

  Decisions decisions_;
  Inbox inbox_;
  DeliveredMessages delivered_;
  std::optional<DisputeTable> disputes_;  ///< under msg-plus-hash with three replicas or more

  bool active_leader_ = false;  ///< posts wildcard receives as they are
  PendingWildcards wildcards_;
  std::unordered_map<std::uint64_t, Match> early_matches_;  ///< of wildcards that are not posted yet, by number
  std::unordered_map<std::uint64_t, Waiting> waiting_;      ///< for their turn to be posted, by communicator
  std::list<Requeued> requeued_;

  std::unordered_map<MessageId, Copy, MessageIdHash> corrections_;  ///< arrived, not yet taken
  Polls polls_;
  std::unordered_map<MessageId, Contest, MessageIdHash> contests_;  ///< by result
  std::unordered_map<MessageId, Repeat, MessageIdHash> repeats_;    ///< by reduction
  std::unordered_map<std::uint64_t, Reductions> reductions_;        ///< by communicator
  std::vector<int> departures_;                                     ///< replicas that are gone, in their order
  std::unordered_map<std::uint64_t, Transfer> transfers_;           ///< by token
  std::uint64_t next_token_ = 0;
  std::vector<Question> asked_for_;                             ///< and not compared here
  std::unordered_map<MessageId, Asked, MessageIdHash> asking_;  ///< about what it has asked, and has no answer
  std::map<std::pair<int, int>, std::uint64_t> wrong_copies_;
};

}  // namespace holdfast::replicate
