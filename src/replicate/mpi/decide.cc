#include "replicate/mpi/decide.h"

#include <algorithm>
#include <cstring>

#include "replicate/engine/clock_pace.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/progress.h"
#include "replicate/mpi/real_clock.h"
#include "replicate/mpi/receive.h"

namespace holdfast::replicate {

namespace {

Publisher publisher;
Follower follower;
ClockPace pace;
constexpr std::size_t per_message = PostOffice::tail_capacity / sizeof(Decision);

void send_due(bool all) {
  Runtime& state = runtime();
  const std::vector<Decision> due = publisher.due(all);
  for (std::size_t at = 0; at < due.size(); at += per_message) {
    const std::size_t n = std::min(per_message, due.size() - at);
    Record record;
    record.kind = RecordKind::decision;
    const auto bytes = std::as_bytes(std::span(due).subspan(at, n));
    for (int k = 1; k < state.degree; ++k) state.post.send(state.team_native(k), record, bytes);
    ++state.counters[Count::decisions];
  }
}

[[noreturn]] void diverged(const char* here) {
  Runtime& state = runtime();
  fail(Incident::diverged, "replicas diverged: rank " + std::to_string(state.rank) + " replica " +
                               std::to_string(state.replica) + " " + here + " where replica 0 " +
                               follower.leader_did());
}

template <class Ask>
void follow(const char* here, Ask ask) {
  wait_until([&] {
    set_awaited({Awaited::What::decision, runtime().rank, 0});
    const Follower::Reply reply = ask();
    if (reply == Follower::Reply::diverged) diverged(here);
    return reply == Follower::Reply::ready;
  });
}

}  // namespace

void publish_flag(bool flag) {
  publisher.yes_or_no(flag);
  send_due(false);
}

bool follow_flag() {
  bool flag = false;
  follow("tested for completion or probed", [&] { return follower.yes_or_no(flag); });
  return flag;
}

std::int64_t decide_index(std::int64_t own) {
  if (!runtime().verifying) return own;
  if (runtime().leader()) {
    publisher.number(own);
    send_due(false);
    return own;
  }
  std::int64_t index = 0;
  follow("completed one of several requests", [&] { return follower.number(index); });
  return index;
}

void decide_words(int clock, std::uint64_t (&words)[3]) {
  if (!runtime().verifying) return;
  const auto which = static_cast<std::uint32_t>(clock);
  ++runtime().counters[Count::clock_reads];
  if (runtime().leader()) {
    publisher.clock(which, words);
    if (!pace.may_wait(monotonic_now_ns()) || publisher.queued() >= per_message) send_due(false);
    return;
  }
  follow("read a clock", [&] { return follower.clock(which, words); });
}

void publish_match(std::uint64_t wildcard, int source, int tag) {
  publisher.match(wildcard, source, tag);
  send_due(false);
}

void receive_decisions(std::span<const std::byte> batch) {
  std::vector<Decision> decisions(batch.size() / sizeof(Decision));
  std::memcpy(decisions.data(), batch.data(), decisions.size() * sizeof(Decision));
  follower.receive(decisions);
  for (const Decision& match : follower.take_matches()) {
    resolve_wildcard(match.words[0], static_cast<int>(match.words[1]), static_cast<int>(match.words[2]));
  }
}

void flush_decisions() {
  if (pace.open()) pace.other_call(monotonic_now_ns());
  if (publisher.pending()) send_due(true);
}

}  // namespace holdfast::replicate
