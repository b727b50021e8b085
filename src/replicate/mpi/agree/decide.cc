#include "replicate/mpi/agree/decide.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/divergence.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/agree/thread_order.h"
#include "replicate/mpi/life/failure.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

/// One order of answers: the whole program's, or, where threads communicate at once, that of the calls on one channel
/// (communicator and tag), which one thread at a time makes.
struct Order {
  Publisher publisher;
  Follower follower;
};
std::unordered_map<std::uint64_t, Order> orders;
constexpr std::uint64_t order_of_turns = 0x7475726e73;  // no thread's name

Order& order() {
  static Order& whole = orders[0];
  return many_threads() ? orders[asking.order] : whole;
}

std::uint64_t count_of_turns = 0;

Order& turns() {
  static Order& all = orders[order_of_turns];
  return all;
}

/// Who asks, as far as replicas can tell: 0 where there is one thread.
std::uint32_t who_asks() {
  return many_threads() ? static_cast<std::uint32_t>(mix(asking.order, asking.calls)) : 0;
}

/// The leader's messages by number, so that one that leads after it knows what the others have heard.
struct Batches {
  std::uint64_t next = 0;  ///< to send, or to come
  struct Batch {
    std::uint64_t order;
    std::vector<Decision> decisions;
  };
  std::map<std::uint64_t, Batch> early;
  std::deque<Batch> kept;  ///< the last ones that came, where others may lack them
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

void send_batch(int replica, std::uint64_t number, std::uint64_t order, std::span<const Decision> batch) {
  Runtime& state = runtime();
  Record record;
  record.kind = RecordKind::decision;
  record.ordinal = number;
  record.communicator = order;
  state.post.send(state.team_native(replica), record, std::as_bytes(batch));
}

void send_due(std::uint64_t name, Publisher& publisher, bool all) {
  send_decisions(name, publisher.due(all));
}

void send_due() {
  send_due(many_threads() ? asking.order : 0, order().publisher, false);
}

/// A program that waits by reading a clock reads it far faster than followers that share the cores repeat it, and each
/// message that MPI has not sent yet holds a request, of which MPICH has a limited number.
constexpr std::size_t most_unsent = 4096;

bool of_a_book(const Batches::Batch& batch) {
  return !batch.decisions.empty() && batch.decisions.front().kind >= Decision::Kind::point;
}

void follow_order(const Batches::Batch& batch) {
  Follower& follower = orders[batch.order].follower;
  follower.receive(batch.decisions);
  if (batch.order == order_of_turns) wake_for_turn(follower.next_turn());
  for (const Decision& match : follower.take_matches()) {
    resolve_wildcard(match.words[0], static_cast<int>(match.words[1]), static_cast<int>(match.words[2]), match.detail);
  }
}

void apply(const Batches::Batch& batch) {
  of_a_book(batch) ? receive_answers(batch.order, batch.decisions) : follow_order(batch);
  ++batches.next;
  const Runtime& state = runtime();
  if (!state.survives || state.degree < 3) return;
  batches.kept.push_back(batch);
  if (batches.kept.size() > most_kept) batches.kept.pop_front();
}

void send_what_one_lacks(int replica, std::uint64_t heard) {
  const std::uint64_t first_kept = batches.next - batches.kept.size();
  if (heard < first_kept) {
    fail(Incident::diverged, "replica " + std::to_string(replica) + " of rank " + std::to_string(runtime().rank) +
                                 " had not heard the last " + std::to_string(batches.next - heard) +
                                 " messages of the leader when it died: more than are kept");
  }
  for (; heard < batches.next; ++heard) {
    const Batches::Batch& batch = batches.kept[heard - first_kept];
    send_batch(replica, heard, batch.order, batch.decisions);
  }
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
  for (auto& [name, one] : orders) one.follower.inherit();
  if (!state.leader()) return;
  batches.next = most;
  take_office();
}

/// The leader did something else. Where most can tell who is odd, that one is taken out meanwhile; what a leader that
/// is gone had said beyond this point holds no more.
void diverged(const char* here) {
  Runtime& state = runtime();
  if (succession.open) return;  // what is inherited is known when all have said what they had heard
  const std::string text = "replicas diverged: rank " + std::to_string(state.rank) + " replica " +
                           std::to_string(state.replica) + " " + here + " where replica " +
                           std::to_string(state.leading) + " " + order().follower.leader_did() + threads_advice();
  if (state.survives && order().follower.disinherit()) return;
  if (!can_outvote_diverged()) fail(Incident::diverged, text);
  part_from_leader(text);
}

bool leads_in(const Order& order) {
  return runtime().leader() && !succession.open && order.follower.caught_up();
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
  return leads_in(order());
}

bool succession_is_open() {
  return succession.open;
}

void send_decisions(std::uint64_t name, const std::vector<Decision>& due) {
  Runtime& state = runtime();
  for (std::size_t at = 0; at < due.size(); at += decisions_per_message) {
    const std::size_t n = std::min(decisions_per_message, due.size() - at);
    for (int k = 0; k < state.degree; ++k)
      if (k != state.replica && state.here(k)) send_batch(k, batches.next, name, std::span(due).subspan(at, n));
    ++batches.next;
    ++state.counters[Count::decisions];
  }
}

void let_followers_catch_up() {
  PostOffice& post = runtime().post;
  if (post.unsent() < most_unsent) return;
  wait_until([&] {
    set_awaited({Awaited::What::team, runtime().rank, -1});
    return post.unsent() < most_unsent / 2;
  });
}

NextTurn next_turn() {
  if (leads_in(turns())) return NextTurn::here;
  const std::uint64_t next = turns().follower.next_turn();
  if (next == asking.order) return NextTurn::own;
  set_awaited({next == 0 ? Awaited::What::decision : Awaited::What::turn, runtime().rank, runtime().leading});
  return next == 0 ? NextTurn::unsaid : NextTurn::of_other;
}

void publish_turn() {
  turns().publisher.turn(asking.order);
  send_due(order_of_turns, turns().publisher, false);
}

std::uint64_t turns_taken() {
  return count_of_turns;
}

void take_turn() {
  turns().follower.take_turn();
  ++count_of_turns;
  wake_for_turn(turns().follower.next_turn());
}

void publish_flag(bool flag) {
  order().publisher.yes_or_no(flag, who_asks());
  send_due();
  pass_point();
}

std::optional<bool> follow_flag() {
  bool flag = false;
  const bool told =
      follow("tested for completion or probed", [&] { return order().follower.yes_or_no(flag, who_asks()); });
  if (told) pass_point();
  return told ? std::optional(flag) : std::nullopt;
}

void publish_number(std::int64_t number) {
  order().publisher.number(number, who_asks());
  send_due();
  pass_point();
}

std::optional<std::int64_t> follow_number() {
  std::int64_t number = 0;
  const bool told =
      follow("completed one of several requests", [&] { return order().follower.number(number, who_asks()); });
  if (told) pass_point();
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

void publish_match(std::uint64_t wildcard, int source, int tag, std::uint32_t poster) {
  order().publisher.match(wildcard, source, tag, poster);
  send_due();
}

void receive_decisions(std::uint64_t number, std::uint64_t name, std::span<const std::byte> bytes) {
  if (number < batches.next) return;  // from two at a succession
  std::vector<Decision> decisions(bytes.size() / sizeof(Decision));
  std::memcpy(decisions.data(), bytes.data(), decisions.size() * sizeof(Decision));
  if (number > batches.next) {
    batches.early.emplace(number, Batches::Batch{name, std::move(decisions)});
    return;
  }
  apply({name, std::move(decisions)});
  if (succession.open) settle_succession();  // before what the next leader says
  for (auto next = batches.early.begin(); next != batches.early.end() && next->first <= batches.next;
       next = batches.early.erase(next)) {
    if (next->first == batches.next) apply(next->second);
    if (succession.open) settle_succession();
  }
}

void begin_succession() {
  Runtime& state = runtime();
  ++succession.term;
  succession.open = true;
  succession.heard[{succession.term, state.replica}] = batches.next;
  batches.early.clear();
  Record record;
  record.kind = RecordKind::succession;
  record.flags = static_cast<std::uint16_t>(succession.term);
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
  flush_answers();
  if (!many_threads()) {
    if (order().publisher.pending()) send_due(0, order().publisher, true);
    return;
  }
  for (auto& [name, one] : orders)
    if (one.publisher.pending()) send_due(name, one.publisher, true);
}

std::uint32_t poster_of_wildcard() {
  return who_asks();
}

}  // namespace holdfast::replicate
