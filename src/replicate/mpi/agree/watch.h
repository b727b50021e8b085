#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replicate/engine/awaited.h"
#include "replicate/engine/record.h"

namespace holdfast::replicate {

/// Set by whatever returns "not yet".
void set_awaited(Awaited awaited);
/// Whether that was a message or collective of the application.
bool waits_for_own_world();

/// Tells a replica that went another way, or died, from one that is merely slow. After an eighth of the silence limit
/// the waiting process asks the replicas of the awaited rank and of its own what they are doing, and `holdfast run`
/// whether those for whom it waits compute, by way of others or directly: then it waits as long again (liveness.h).
/// When the limit passes and it waits for another replica, or its own replicas have all gone past this call, the odd
/// one is taken out where most agree who that is (divergence.h), for which there is as long again; else the job ends
/// with a message that names the calls. A thread that waits for its turn is not left behind while others take theirs.
/// Waiting for the application's own messages has no limit as long as the other replicas wait alike. Nor does waiting
/// for an answer of the system end the job: whoever asks does without it then.
class Watch {
 public:
  Watch();
  /// Called now and then while waiting.
  void look();

 private:
  void ask_others(std::uint64_t now);

  std::uint64_t since_ns_;
  std::uint64_t next_question_ns_;
  std::uint64_t turns_;     ///< taken by the threads of this process until then
  std::size_t departures_;  ///< of replicas until then: what follows one may take as long again
};

/// Whether the calling thread has waited for an answer of the system for longer than three quarters of the limit since
/// this was asked last.
bool answer_overdue();

/// Answers "what are you doing?" and files the answers of others.
void answer_state_question(int physical, const Record& question);
void file_state_answer(int physical, const Record& record);

/// Nanoseconds of the real steady clock, whatever the application is told.
std::uint64_t steady_now_ns();

}  // namespace holdfast::replicate
