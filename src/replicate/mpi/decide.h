#pragma once

#include <cstdint>
#include <span>

#include "replicate/mpi/operation.h"
#include "replicate/mpi/runtime.h"

namespace holdfast::replicate {

/// Answers that MPI may give differently in each replica. The leader (replica 0) says its own, the others repeat it in
/// program order (RedMPI section 3.3). Without replication every answer is one's own.

/// The leader's answer to a yes-or-no question; only the leader's `own` is looked at, and only there is it evaluated.
template <class Own>
bool decide(Own own);
/// The leader's answer where it is a number.
std::int64_t decide_index(std::int64_t own);
/// The leader's three words (clock answers).
void decide_words(int clock, std::uint64_t (&words)[3]);

void publish_flag(bool flag);
bool follow_flag();

/// A wildcard receive of the leader matched; tells the followers.
void publish_match(std::uint64_t wildcard, int source, int tag);
/// A batch of the leader's answers arrived.
void receive_decisions(std::span<const std::byte> batch);
/// Sends what the followers must know before this process does anything else. Cheap when there is nothing.
void flush_decisions();

template <class Own>
bool decide(Own own) {
  if (!runtime().verifying) return own();
  if (!runtime().leader()) return follow_flag();
  const bool flag = own();
  publish_flag(flag);
  return flag;
}

}  // namespace holdfast::replicate
