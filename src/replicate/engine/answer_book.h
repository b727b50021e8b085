#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replicate/engine/agreement.h"

namespace holdfast::replicate {

/// What the system tells a program (clocks, memory in use, load), which the leader hears and the others are told.
///
/// How often a program asks is not the same in all replicas: Python reads a clock whenever another thread holds its
/// interpreter, a garbage collector whenever it runs. So answers are not matched by their number in the program, but by
/// where they were asked for: after so many points at which the replicas agreed anyway (calls of MPI, decisions), about
/// that subject (which clock, asked from where). Of one subject between two such points they are matched in order. A
/// question that only one side asks concerns no other: the leader's is dropped when the follower has passed that point,
/// the follower's is answered by itself once the leader has passed it.

/// The leader's side: what it was told, as decisions.
class AnswerWriter {
 public:
  void answer(std::uint64_t point, std::uint32_t subject, std::string_view value);
  /// The leader has gone on to that point, and asks nothing before it any more.
  void passed(std::uint64_t point);
  std::vector<Decision> take();
  std::size_t queued() const { return queued_.size(); }

 private:
  std::vector<Decision> queued_;
  std::uint64_t point_ = 0;
};

/// A follower's side. No I/O; one thread at a time.
class AnswerBook {
 public:
  static constexpr std::size_t longest_answer = std::size_t{4} << 20;
  enum class Reply {
    waiting,  ///< the leader may yet ask this
    ready,
    absent,  ///< the leader has gone on without asking
  };

  /// False where that cannot be what an AnswerWriter wrote.
  bool receive(std::span<const Decision> decisions);
  /// The leader's answer at that point, which must not fall; it is used up.
  Reply find(std::uint64_t point, std::uint32_t subject, std::string& value);
  bool empty() const { return answers_.empty(); }
  /// The point to which the leader has come, as far as is known here.
  std::uint64_t leader_at() const { return leader_at_; }

 private:
  struct Answer {
    std::uint64_t point;
    std::uint32_t subject;
    std::string value;
  };
  bool complete() const { return missing_ == 0; }

  std::deque<Answer> answers_;  ///< the last one may still grow by what is missing
  std::uint64_t answered_at_ = 0;
  std::uint64_t leader_at_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace holdfast::replicate
