#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replicate/mpi/life/runtime.h"
#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

/// Answers that MPI may give differently in each replica. The leader (replica 0) says its own, the others repeat it in
/// program order (RedMPI section 3.3). Without replication every answer is one's own.

/// The leader's answer to a yes-or-no question; only the leader's `own` is looked at, and only there is it evaluated.
template <class Own>
bool decide(Own own);
/// The leader's answer where it is a number; `own` is asked like that of decide().
template <class Own>
std::int64_t decide_number(Own own);
/// The same for answers that only the leader can have, because it alone acts: its death there ends the job.
std::int64_t decide_index(std::int64_t own);

/// Sends the followers a part of the book with that name (answers.h).
void send_decisions(std::uint64_t name, const std::vector<Decision>& due);
constexpr std::size_t decisions_per_message = most_tail_bytes / sizeof(Decision);
/// Whether nobody decides yet, after the leader was taken out.
bool succession_is_open();

/// Whether this replica decides now: it leads, and there is no answer left of one that led before it.
bool leads();
void publish_flag(bool flag);
void publish_number(std::int64_t number);
/// The leader's answer; nothing when it died without one and this replica leads now.
std::optional<bool> follow_flag();
std::optional<std::int64_t> follow_number();

/// A wildcard receive of the leader matched; tells the followers. `poster`: who posted it, of several threads.
void publish_match(std::uint64_t wildcard, int source, int tag, std::uint32_t poster);
std::uint32_t poster_of_wildcard();
/// The leader's message with that number, a batch of answers of one order, arrived.
void receive_decisions(std::uint64_t number, std::uint64_t order, std::span<const std::byte> batch);

/// The order in which threads go on (thread_order.h), which the leader makes.
enum class NextTurn : std::uint8_t {
  here,      ///< this replica says whose it is: it leads, and nothing is left of what one that led before it said
  own,       ///< the present thread's
  of_other,  ///< another thread's, which has not come for it
  unsaid,    ///< the leader has not said whose
};
NextTurn next_turn();
/// The present thread goes on: tells the followers.
void publish_turn();
/// The present thread goes on, as the leader has said.
void take_turn();
/// How often that was, of all threads.
std::uint64_t turns_taken();
/// Waits while the leader is so far ahead that MPI holds too many messages of it.
void let_followers_catch_up();

/// The leader's replica was taken out. Those that are left tell each other how many of its messages they have, who has
/// most gives them to the others, and then the next leader decides, from its first own answer on.
void begin_succession();
void receive_succession(int replica, const Record& record);
/// Others may have left that were waited for.
void go_on_with_succession();
/// Sends what the followers must know before this process does anything else. Cheap when there is nothing.
void flush_decisions();

template <class Own>
bool decide(Own own) {
  if (!runtime().verifying) return own();
  if (!leads()) {
    if (const auto told = follow_flag()) return *told;
  }
  const bool flag = own();
  publish_flag(flag);
  return flag;
}

template <class Own>
std::int64_t decide_number(Own own) {
  if (!runtime().verifying) return own();
  if (!leads()) {
    if (const auto told = follow_number()) return *told;
  }
  const std::int64_t number = own();
  publish_number(number);
  return number;
}

}  // namespace holdfast::replicate
