#include "replicate/engine/decisions.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace holdfast::replicate {

namespace {

constexpr std::uint64_t order_of_turns = 0x7475726e73;  // no thread's name

bool of_a_book(std::span<const Decision> batch) {
  return !batch.empty() && batch.front().kind >= Decision::Kind::point;
}

}  // namespace

void Decisions::tell_flag(std::uint64_t order, bool flag, std::uint32_t asker) {
  Publisher& publisher = order_of(order).publisher;
  publisher.yes_or_no(flag, asker);
  send(order, publisher.due(false));
}

void Decisions::tell_number(std::uint64_t order, std::int64_t number, std::uint32_t asker) {
  Publisher& publisher = order_of(order).publisher;
  publisher.number(number, asker);
  send(order, publisher.due(false));
}

/// Followers hear of matches outside program order, so that it is no matter which order they come in.
void Decisions::tell_match(std::uint64_t number, std::int32_t source, std::int32_t tag, std::uint32_t poster) {
  whole_.publisher.match(number, source, tag, poster);
  send(0, whole_.publisher.due(false));
}

void Decisions::tell_turn(std::uint64_t thread) {
  turns_.publisher.turn(thread);
  send(order_of_turns, turns_.publisher.due(false));
}

void Decisions::flush() {
  if (whole_.publisher.pending()) send(0, whole_.publisher.due(true));
  for (auto& [name, order] : orders_)
    if (order.publisher.pending()) send(name, order.publisher.due(true));
}

void Decisions::send(std::uint64_t name, const std::vector<Decision>& due) {
  for (std::size_t at = 0; at < due.size(); at += per_message) {
    const std::size_t n = std::min(per_message, due.size() - at);
    for (int k = 0; k < team_.degree; ++k)
      if (k != team_.replica && team_.here(k)) send_batch(k, next_, name, std::span(due).subspan(at, n));
    ++next_;
    ++counters_[Count::decisions];
  }
}

void Decisions::send_batch(int replica, std::uint64_t number, std::uint64_t name, std::span<const Decision> batch) {
  Record record;
  record.kind = RecordKind::decision;
  record.ordinal = number;
  record.communicator = name;
  host_.send({team_.rank, replica}, record, std::as_bytes(batch));
}

/// Of a leader that is gone and went another way, what is left of its answers holds no more.
template <class Ask>
Decisions::Reply Decisions::follow(Order& order, Ask ask) {
  if (leads_in(order)) return Reply::own;
  Follower::Reply reply = ask(order.follower);
  if (reply == Follower::Reply::diverged && !open_ && survives_ && order.follower.disinherit()) {
    if (leads_in(order)) return Reply::own;
    reply = ask(order.follower);
  }
  if (reply == Follower::Reply::ready) return Reply::told;
  // What is inherited is known when all have said what they had heard.
  return reply == Follower::Reply::diverged && !open_ ? Reply::diverged : Reply::waiting;
}

Decisions::Reply Decisions::follow_flag(std::uint64_t order, bool& flag, std::uint32_t asker) {
  return follow(order_of(order), [&](Follower& follower) { return follower.yes_or_no(flag, asker); });
}

Decisions::Reply Decisions::follow_number(std::uint64_t order, std::int64_t& number, std::uint32_t asker) {
  return follow(order_of(order), [&](Follower& follower) { return follower.number(number, asker); });
}

Decisions::NextTurn Decisions::next_turn(std::uint64_t thread) {
  if (leads_in(turns_)) return NextTurn::here;
  const std::uint64_t next = turns_.follower.next_turn();
  if (next == thread) return NextTurn::own;
  return next == 0 ? NextTurn::unsaid : NextTurn::of_other;
}

void Decisions::take_turn() {
  turns_.follower.take_turn();
  ++turns_taken_;
  listener_.on_turn(turns_.follower.next_turn());
}

void Decisions::on_decisions(const ControlMessage& message) {
  const std::uint64_t number = message.record.ordinal;
  if (number < next_) return;  // from two at a succession
  Batch batch{message.record.communicator, std::vector<Decision>(message.tail.size() / sizeof(Decision))};
  std::memcpy(batch.decisions.data(), message.tail.data(), batch.decisions.size() * sizeof(Decision));
  if (number == next_ && !open_ && early_.empty()) return apply(std::move(batch));
  early_.emplace(number, std::move(batch));
  take_early();
}

/// While it is open who leads, what nobody has said to have heard may be the next leader's: that is no inheritance, and
/// waits until the succession is settled.
void Decisions::take_early() {
  for (auto next = early_.begin(); next != early_.end() && next->first <= next_; next = early_.erase(next)) {
    if (open_ && next->first >= most_heard()) return;
    if (next->first == next_) apply(std::move(next->second));
    if (open_) settle_succession();
  }
}

/// As far as is known of those that are left.
std::uint64_t Decisions::most_heard() const {
  std::uint64_t most = 0;
  for (int k = 0; k < team_.degree; ++k)
    if (const auto said = heard_.find({term_, k}); said != heard_.end() && team_.here(k))
      most = std::max(most, said->second);
  return most;
}

void Decisions::apply(Batch batch) {
  ++next_;
  if (survives_ && team_.degree > 2) {
    kept_.push_back(batch);
    kept_end_ = next_;
    if (kept_.size() > most_kept) kept_.pop_front();
  }
  if (of_a_book(batch.decisions)) return listener_.on_answers(batch.order, batch.decisions);
  const bool of_turns = batch.order == order_of_turns;
  Follower& follower = of_turns ? turns_.follower : order_of(batch.order).follower;
  follower.receive(batch.decisions);
  if (of_turns) listener_.on_turn(follower.next_turn());
  for (const Decision& match : follower.take_matches())
    listener_.on_match(match.words[0], static_cast<std::int32_t>(match.words[1]),
                       static_cast<std::int32_t>(match.words[2]), match.detail);
}

void Decisions::peer_gone() {
  if (led_by_ != team_.leading) {
    led_by_ = team_.leading;
    begin_succession();
  } else if (open_) {  // it may have been waited for
    settle_succession();
    take_early();
  } else if (term_ > 0) {
    supply_again();
  }
}

/// The one that is gone may have been the one that gave the others what they lack, and not have done it.
void Decisions::supply_again() {
  const std::uint64_t first_kept = kept_end_ - kept_.size();
  for (int k = 0; k < team_.degree; ++k) {
    const auto said = heard_.find({term_, k});
    if (k == team_.replica || !team_.here(k) || said == heard_.end()) continue;
    for (std::uint64_t n = std::max(said->second, first_kept); n < std::min(legacy_end_, kept_end_); ++n)
      send_batch(k, n, kept_[n - first_kept].order, kept_[n - first_kept].decisions);
  }
}

void Decisions::begin_succession() {
  ++term_;
  open_ = true;
  heard_[{term_, team_.replica}] = next_;
  early_.clear();
  Record record;
  record.kind = RecordKind::succession;
  record.flags = static_cast<std::uint16_t>(term_);
  record.ordinal = next_;
  for (int k = 0; k < team_.degree; ++k)
    if (k != team_.replica && team_.here(k)) host_.send({team_.rank, k}, record);
  settle_succession();
}

void Decisions::on_succession(const ControlMessage& message) {
  heard_[{message.record.flags, message.from.replica}] = message.record.ordinal;
  if (open_) settle_succession();
  take_early();
}

/// All that are left have said what they had heard, and this one has it all. Whoever has heard most, the lowest of
/// those, gives it to the others.
void Decisions::settle_succession() {
  std::uint64_t most = 0;
  int supplier = -1;
  for (int k = 0; k < team_.degree; ++k) {
    if (!team_.here(k)) continue;
    const auto said = heard_.find({term_, k});
    if (said == heard_.end()) return;
    if (supplier >= 0 && said->second <= most) continue;
    most = said->second;
    supplier = k;
  }
  if (next_ < most) return;  // on its way
  for (int k = 0; supplier == team_.replica && k < team_.degree; ++k)
    if (team_.here(k) && heard_[{term_, k}] < most) send_what_one_lacks(k, heard_[{term_, k}]);
  open_ = false;
  legacy_end_ = most;
  whole_.follower.inherit();
  turns_.follower.inherit();
  for (auto& [name, order] : orders_) order.follower.inherit();
  if (!team_.leader()) return;
  next_ = most;
  listener_.on_lead();
}

void Decisions::send_what_one_lacks(int replica, std::uint64_t heard) {
  const std::uint64_t first_kept = next_ - kept_.size();
  if (heard < first_kept)
    host_.fail(Incident::diverged, "replica " + std::to_string(replica) + " of rank " + std::to_string(team_.rank) +
                                       " had not heard the last " + std::to_string(next_ - heard) +
                                       " messages of the leader when it died: more than are kept");
  for (; heard < next_; ++heard) {
    const Batch& batch = kept_[heard - first_kept];
    send_batch(replica, heard, batch.order, batch.decisions);
  }
}

}  // namespace holdfast::replicate
