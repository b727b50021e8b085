#pragma once

#include <cstdint>
#include <optional>

#include "replicate/engine/decisions.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

/// Answers that MPI may give differently in each replica. The leader says its own, the others repeat it in program
/// order (engine/decisions.h); here they are asked for by the application's calls, which wait for them. Without
/// replication every answer is one's own.

/// The leader's answer to a yes-or-no question; only the leader's `own` is looked at, and only there is it evaluated.
template <class Own>
bool decide(Own own);
/// The leader's answer where it is a number; `own` is asked like that of decide().
template <class Own>
std::int64_t decide_number(Own own);
/// The same for answers that only the leader can have, because it alone acts: its death there ends the job.
std::int64_t decide_index(std::int64_t own);

/// Whether this replica decides now: it leads, and there is no answer left of one that led before it.
bool leads();
void publish_flag(bool flag);
void publish_number(std::int64_t number);
/// The leader's answer; nothing when this replica decides, or does since the one before died without one.
std::optional<bool> follow_flag();
std::optional<std::int64_t> follow_number();

/// Whether the calling thread, outside MPI, repeats what its leader has done already: what it will ask next has been
/// answered. Any thread.
bool repeats_leader();

/// Who posts a wildcard receive, of several threads.
std::uint32_t poster_of_wildcard();

/// The order in which threads go on (thread_order.h), which the leader makes.
using NextTurn = Decisions::NextTurn;
NextTurn next_turn();
/// The present thread goes on: tells the followers.
void publish_turn();
/// The present thread goes on, as the leader has said.
void take_turn();

/// Sends what the followers must know before this process does anything else. Cheap when there is nothing.
void flush_decisions();

template <class Own>
bool decide(Own own) {
  if (!runtime().verifying) return own();
  if (const auto told = follow_flag()) return *told;
  const bool flag = own();
  publish_flag(flag);
  return flag;
}

template <class Own>
std::int64_t decide_number(Own own) {
  if (!runtime().verifying) return own();
  if (const auto told = follow_number()) return *told;
  const std::int64_t number = own();
  publish_number(number);
  return number;
}

}  // namespace holdfast::replicate
