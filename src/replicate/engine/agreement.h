#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace holdfast::replicate {

/// One answer of the leader, on its way to the followers.
struct Decision {
  enum class Kind : std::uint32_t {
    no,      ///< `words[0]` times "no" in a row to yes-or-no questions
    yes,     ///< one "yes"
    number,  ///< an index or a count, in words[0]
    match,   ///< wildcard receive words[0] matched source words[1], tag words[2]
    turn,    ///< the thread named words[0] goes on
    point,   ///< answers that follow were given after words[0] agreed points (answer_book.h)
    answer,  ///< words[0] bytes about the subject `detail`: the first 16 of them in the other words
    more,    ///< up to 24 further bytes of that
  };
  Kind kind{};
  std::uint32_t detail = 0;  ///< where threads ask: who did; of an answer: about what
  std::array<std::uint64_t, 3> words{};
};

/// The leader's side: collects decisions and says when they must be sent. Runs of "no", as a polling loop makes them,
/// are one decision; a follower hears of a run when it has reached 1, 2, 4, 8 ... so that it is never far behind, at a
/// number of messages that grows with the logarithm. No I/O, no clock, one thread at a time.
class Publisher {
 public:
  /// `asker`: of several threads, a number that tells who asks.
  void yes_or_no(bool answer, std::uint32_t asker = 0);
  void number(std::int64_t value, std::uint32_t asker = 0);
  void match(std::uint64_t wildcard, int source, int tag, std::uint32_t asker = 0);
  /// In an order of turns alone: which thread goes on.
  void turn(std::uint64_t thread);

  /// Decisions that are due now; with `all`, those that could wait as well. Hands them over.
  std::vector<Decision> due(bool all);
  bool pending() const { return !queued_.empty() || unsent_noes_ > 0; }

 private:
  void close_run();
  std::vector<Decision> queued_;
  std::uint64_t unsent_noes_ = 0;
  std::uint32_t noes_asker_ = 0;
  std::uint64_t run_ = 0;       ///< length of the present run of "no"
  std::uint64_t next_due_ = 1;  ///< run length at which followers must hear of it
};

/// A follower's side: repeats the leader's answers in program order. An answer of another kind than the one asked for,
/// or to another asker, means that the replicas went different ways.
class Follower {
 public:
  enum class Reply { waiting, ready, diverged };

  void receive(std::span<const Decision> decisions);
  Reply yes_or_no(bool& answer, std::uint32_t asker = 0);
  Reply number(std::int64_t& value, std::uint32_t asker = 0);
  /// In an order of turns alone: the thread that goes on next, 0 where the leader has not said; and on to the next one,
  /// where it has.
  std::uint64_t next_turn() const;
  void take_turn();
  /// Matches of wildcard receives come outside program order.
  std::vector<Decision> take_matches();
  /// Whether the leader has said nothing that is not used yet.
  bool caught_up() const { return answers_.empty(); }
  /// The leader is gone: what it had said and is not used yet is inherited.
  void inherit() { inherited_ = answers_.size(); }
  /// The one who is gone went another way: nothing of what is left of its answers holds. False where nothing is left.
  bool disinherit();
  /// What the leader did where this replica asked for something else, for the diagnosis.
  const char* leader_did() const;

 private:
  void use();
  std::deque<Decision> answers_;
  std::size_t inherited_ = 0;  ///< so many of the first answers
  std::vector<Decision> matches_;
};

}  // namespace holdfast::replicate
