// Which receive is given to MPI when.
#include <algorithm>
#include <utility>

#include "replicate/engine/mix.h"
#include "replicate/engine/replica.h"

namespace holdfast::replicate {

void Replica::post(Verified& receive, std::uint64_t communicator, ReceiveOrder& order, std::int32_t source,
                   std::int32_t tag, std::uint32_t poster) {
  receive.communicator = communicator;
  receive.order = &order;
  receive.source = source;
  receive.tag = tag;
  receive.holds = Verified::Holds::nothing;
  receive.wildcard.reset();
  const ReceiveOrder::Ticket ticket = order.post(source, tag);
  receive.ticket = ticket;
  auto early = early_matches_.end();
  if (source == any_source || tag == any_tag) {
    receive.wildcard = {mix(communicator, ticket), poster};
    wildcards_.add(receive.wildcard->number, receive);
    early = early_matches_.find(receive.wildcard->number);
  }
  const bool waits = !(team_.leader() && active_leader_) && (receive.wildcard || !order.placed(ticket));
  if (waits) {
    receive.stage = Verified::Stage::unplaced;
    waiting_[communicator][ticket] = &receive;
  }
  if (early != early_matches_.end()) {  // at one that leads, the leader before it had said it
    const Match match = early->second;
    early_matches_.erase(early);
    on_match(receive.wildcard->number, match.source, match.tag, match.poster);
  }
  if (!waits) give_to_mpi(receive);
}

void Replica::post_matched(Verified& receive, const MessageId& place) {
  receive.holds = Verified::Holds::nothing;
  receive.wildcard.reset();
  receive.communicator = place.channel.communicator;
  receive.source = place.channel.source;
  receive.tag = place.channel.tag;
  receive.place = place;
  receive.stage = Verified::Stage::native;
}

void Replica::give_to_mpi(Verified& receive) {
  receive.stage = Verified::Stage::native;
  const Requeued* requeued = find_requeued(receive.communicator, receive.source, receive.tag);
  if (!requeued) return host_.give_to_mpi(receive);
  const Requeued taken = *requeued;
  std::erase_if(requeued_, [&](const Requeued& one) { return &one == requeued; });
  take(receive, taken);
}

void Replica::take(Verified& receive, const Requeued& message) {
  const std::size_t fits = std::min<std::size_t>(message.bytes->size(), receive.capacity());
  receive.take_requeued(std::span(*message.bytes).first(fits), message.source, message.tag);
  receive.holds = message.refused ? Verified::Holds::requeued_refused : Verified::Holds::requeued;
  receive.stage = message.stage;
  receive.identity = message.identity;
  receive.own = message.own;
  receive.supplier = message.supplier;
  receive.counted = message.counted;
  if (receive.wildcard && forget_wildcard(receive)) {  // at one that leads since
    decisions_.tell_match(receive.wildcard->number, message.source, message.tag, receive.wildcard->poster);
    resolve(receive, message.source, message.tag);
  }
  if (receive.stage == Verified::Stage::disputed && disputes_) host_.watch(receive);
}

void Replica::post_now_placed(std::uint64_t communicator, const std::vector<ReceiveOrder::Ticket>& tickets) {
  const auto line = waiting_.find(communicator);
  if (line == waiting_.end()) return;
  for (const ReceiveOrder::Ticket ticket : tickets) {
    const auto found = line->second.find(ticket);
    if (found == line->second.end()) continue;
    Verified& receive = *found->second;
    line->second.erase(found);
    give_to_mpi(receive);
  }
  if (line->second.empty()) waiting_.erase(line);
}

void Replica::resolve(Verified& receive, std::int32_t source, std::int32_t tag) {
  receive.source = source;
  receive.tag = tag;
  std::vector<ReceiveOrder::Ticket> now_placed;
  receive.order->resolve(*receive.ticket, source, tag, now_placed);
  post_now_placed(receive.communicator, now_placed);
}

/// True when it was unresolved.
bool Replica::forget_wildcard(const Verified& receive) {
  const std::uint64_t number = receive.wildcard->number;
  return wildcards_.find(number) == &receive && wildcards_.remove(number);
}

/// Takes it back from MPI where it has none.
bool Replica::holds_message(Verified& receive) {
  if (receive.stage == Verified::Stage::unplaced) return false;
  return receive.stage != Verified::Stage::native || !host_.take_back(receive);
}

Replica::Requeued Replica::give_up(Verified& receive) {
  using Stage = Verified::Stage;
  if (receive.stage == Stage::disputed && disputes_) host_.forget(receive);
  const bool compared = receive.stage == Stage::disputed || receive.stage == Stage::complete;
  Requeued message;
  message.communicator = receive.communicator;
  message.stage = compared ? receive.stage : Stage::placing;
  message.identity = receive.identity;
  message.own = receive.own;
  message.supplier = receive.supplier;
  message.counted = receive.counted;
  message.refused = receive.refused();
  message.bytes = receive.give_up(message.source, message.tag);
  return message;
}

/// What another cancelled receive of the channel has left is a later message: that receive was posted after this one,
/// and receives that were posted since have taken what was there.
void Replica::requeue(Requeued message) {
  const auto later = std::find_if(requeued_.begin(), requeued_.end(), [&](const Requeued& one) {
    return one.communicator == message.communicator && one.source == message.source && one.tag == message.tag;
  });
  requeued_.insert(later, std::move(message));
}

/// One that leads since may hold a message as well, of a wildcard that the leader before it had cancelled.
void Replica::cancelled(Verified& receive) {
  const auto line = waiting_.find(receive.communicator);
  if (line != waiting_.end()) {
    line->second.erase(*receive.ticket);
    if (line->second.empty()) waiting_.erase(line);
  }
  std::optional<Requeued> message;
  if (holds_message(receive)) message = give_up(receive);
  if (receive.wildcard && forget_wildcard(receive) && message) resolve(receive, message->source, message->tag);
  std::vector<ReceiveOrder::Ticket> now_placed;
  std::vector<ReceiveOrder::Ticket> later;
  receive.order->cancel(*receive.ticket, now_placed, &later);
  for (const ReceiveOrder::Ticket ticket : later) {
    Verified* next = message ? host_.find_posted(*receive.order, ticket) : nullptr;
    if (!next) continue;
    const Requeued taken = std::move(*message);
    message.reset();
    if (holds_message(*next)) message = give_up(*next);
    take(*next, taken);
  }
  if (message) requeue(std::move(*message));
  post_now_placed(receive.communicator, now_placed);
  receive.stage = Verified::Stage::complete;
}

bool Replica::probe_must_wait(const ReceiveOrder& order, std::int32_t source, std::int32_t tag) const {
  return !(team_.leader() && active_leader_) && order.blocked(source, tag);
}

bool Replica::match_is_unsaid(const ReceiveOrder& order, std::int32_t source, std::int32_t tag) const {
  return setup_.survives && team_.leader() && order.blocked(source, tag);
}

const Replica::Requeued* Replica::find_requeued(std::uint64_t communicator, std::int32_t source,
                                                std::int32_t tag) const {
  for (const Requeued& one : requeued_) {
    if (one.communicator == communicator && (source == any_source || source == one.source) &&
        (tag == any_tag || tag == one.tag))
      return &one;
  }
  return nullptr;
}

void Replica::on_match(std::uint64_t number, std::int32_t source, std::int32_t tag, std::uint32_t poster) {
  Verified* const found = wildcards_.find(number);
  if (found == nullptr) {
    early_matches_[number] = {source, tag, poster};
    return;
  }
  Verified& receive = *found;
  if (receive.wildcard->poster != poster) {
    host_.fail(Incident::diverged, "replicas diverged: a wildcard receive of rank " + std::to_string(team_.rank) +
                                       " replica " + std::to_string(team_.replica) +
                                       " stands at another place among the receives of its communicator than the "
                                       "leader's" +
                                       host_.divergence_causes());
  }
  wildcards_.remove(number);
  resolve(receive, source, tag);
}

void Replica::take_lead() {
  active_leader_ = true;
  for (auto& [communicator, line] : std::exchange(waiting_, {})) {
    for (const auto& [ticket, receive] : line) give_to_mpi(*receive);
  }
}

std::span<Verified* const> Replica::matches_to_look_for(std::size_t most) {
  if (wildcards_.empty() || !team_.leader() || !active_leader_) return {};
  return wildcards_.in_turn(most);
}

}  // namespace holdfast::replicate
