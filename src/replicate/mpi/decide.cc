#include "replicate/mpi/decide.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// The leader's messages by number, so that one that leads after it knows what the others have heard.
struct Batches {
  std::uint64_t next = 0;  ///< to send, or to come
  std::map<std::uint64_t, std::vector<Decision>> early;
  std::deque<std::vector<Decision>> kept;  ///< the last ones that came, where others may lack them
};
Batches batches;
constexpr std::size_t most_kept = 8192;

/// After the leader's replica was taken out: what each of those that are left had heard from it.
struct Succession {
  std::uint32_t term = 0;  ///< how many leaders are gone
  bool open = false;
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> heard;  ///< by term and replica
};
Succession succession;

void send_batch(int replica, std::uint64_t number, std::span<const Decision> batch) {
  Runtime& state = runtime();
  Record record;
  record.kind = RecordKind::decision;
  record.ordinal = number;
  state.post.send(state.team_native(replica), record, std::as_bytes(batch));
}

void send_due(bool all) {
  Runtime& state = runtime();
  const std::vector<Decision> due = publisher.due(all);
  for (std::size_t at = 0; at < due.size(); at += per_message) {
    const std::size_t n = std::min(per_message, due.size() - at);
    for (int k = 0; k < state.degree; ++k)
      if (k != state.replica && state.here(k)) send_batch(k, batches.next, std::span(due).subspan(at, n));
    ++batches.next;
    ++state.counters[Count::decisions];
  }
}

void apply(const std::vector<Decision>& decisions) {
  follower.receive(decisions);
  for (const Decision& match : follower.take_matches()) {
    resolve_wildcard(match.words[0], static_cast<int>(match.words[1]), static_cast<int>(match.words[2]));
  }
  ++batches.next;
  const Runtime& state = runtime();
  if (!state.survives || state.degree < 3) return;
  batches.kept.push_back(decisions);
  if (batches.kept.size() > most_kept) batches.kept.pop_front();
}

void send_what_one_lacks(int replica, std::uint64_t heard) {
  const std::uint64_t first_kept = batches.next - batches.kept.size();
  if (heard < first_kept) {
    fail(Incident::diverged, "replica " + std::to_string(replica) + " of rank " + std::to_string(runtime().rank) +
                                 " had not heard the last " + std::to_string(batches.next - heard) +
                                 " messages of the leader when it died: more than are kept");
  }
  for (; heard < batches.next; ++heard) send_batch(replica, heard, batches.kept[heard - first_kept]);
}

/// All that are left have said what they had heard, and this one has it all. Whoever has heard most, the lowest of
/// those, gives it to the others.
void settle_succession() {
  Runtime& state = runtime();
  std::uint64_t most = 0;
  int supplier = -1;
  for (int k = 0; k < state.degree; ++k) {
    if (!state.here(k)) continue;
    const auto said = succession.heard.find({succession.term, k});
    if (said == succession.heard.end()) return;
    if (supplier >= 0 && said->second <= most) continue;
    most = said->second;
    supplier = k;
  }
  if (batches.next < most) return;  // on its way
  for (int k = 0; supplier == state.replica && k < state.degree; ++k) {
    if (state.here(k) && succession.heard[{succession.term, k}] < most)
      send_what_one_lacks(k, succession.heard[{succession.term, k}]);
  }
  succession.open = false;
  if (!state.leader()) return;
  batches.next = most;
  take_office();
}

[[noreturn]] void diverged(const char* here) {
  Runtime& state = runtime();
  fail(Incident::diverged, "replicas diverged: rank " + std::to_string(state.rank) + " replica " +
                               std::to_string(state.replica) + " " + here + " where replica " +
                                   std::to_string(state.leading) + " " +
                               follower.leader_did());
}

/// Waits for the leader's answer; false when this replica leads now and the one before it had said nothing more.
template <class Ask>
bool follow(const char* here, Ask ask) {
  bool told = true;
  wait_until([&] {
    set_awaited({Awaited::What::decision, runtime().rank, runtime().leading});
    if (leads()) {
      told = false;
      return true;
    }
    const Follower::Reply reply = ask();
    if (reply == Follower::Reply::diverged) diverged(here);
    return reply == Follower::Reply::ready;
  });
  return told;
}

}  // namespace

bool leads() {
  return runtime().leader() && !succession.open && follower.caught_up();
}

void publish_flag(bool flag) {
  publisher.yes_or_no(flag);
  send_due(false);
}

std::optional<bool> follow_flag() {
  bool flag = false;
  const bool told = follow("tested for completion or probed", [&] { return follower.yes_or_no(flag); });
  return told ? std::optional(flag) : std::nullopt;
}

void publish_number(std::int64_t number) {
  publisher.number(number);
  send_due(false);
}

std::optional<std::int64_t> follow_number() {
  std::int64_t number = 0;
  const bool told = follow("completed one of several requests", [&] { return follower.number(number); });
  return told ? std::optional(number) : std::nullopt;
}

std::int64_t decide_index(std::int64_t own) {
  if (!runtime().verifying) return own;
  const bool led = leads();
  return decide_number([&] {
    if (led) return own;
    fail(Incident::diverged, "the leader of rank " + std::to_string(runtime().rank) +
                                 " died in a call that it makes for all replicas, and nobody knows how far it came");
  });
}

void decide_words(int clock, std::uint64_t (&words)[3]) {
  if (!runtime().verifying) return;
  const auto which = static_cast<std::uint32_t>(clock);
  ++runtime().counters[Count::clock_reads];
  if (!leads() && follow("read a clock", [&] { return follower.clock(which, words); })) return;
  publisher.clock(which, words);
  if (!pace.may_wait(monotonic_now_ns()) || publisher.queued() >= per_message) send_due(false);
}

void publish_match(std::uint64_t wildcard, int source, int tag) {
  publisher.match(wildcard, source, tag);
  send_due(false);
}

void receive_decisions(std::uint64_t number, std::span<const std::byte> bytes) {
  if (number < batches.next) return;  // from two at a succession
  std::vector<Decision> decisions(bytes.size() / sizeof(Decision));
  std::memcpy(decisions.data(), bytes.data(), decisions.size() * sizeof(Decision));
  if (number > batches.next) {
    batches.early.emplace(number, std::move(decisions));
    return;
  }
  apply(decisions);
  for (auto next = batches.early.begin(); next != batches.early.end() && next->first <= batches.next;
       next = batches.early.erase(next)) {
    if (next->first == batches.next) apply(next->second);
  }
  if (succession.open) settle_succession();
}

void begin_succession() {
  Runtime& state = runtime();
  ++succession.term;
  succession.open = true;
  succession.heard[{succession.term, state.replica}] = batches.next;
  batches.early.clear();
  Record record;
  record.kind = RecordKind::succession;
  record.flags = succession.term;
  record.ordinal = batches.next;
  for (int k = 0; k < state.degree; ++k)
    if (k != state.replica && state.here(k)) state.post.send(state.team_native(k), record);
  settle_succession();
}

void receive_succession(int replica, const Record& record) {
  succession.heard[{record.flags, replica}] = record.ordinal;
  if (succession.open) settle_succession();
}

void go_on_with_succession() {
  if (succession.open) settle_succession();
}

void flush_decisions() {
  if (pace.open()) pace.other_call(monotonic_now_ns());
  if (publisher.pending()) send_due(true);
}

}  // namespace holdfast::replicate
