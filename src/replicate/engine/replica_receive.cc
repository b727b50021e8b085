// Which receive is given to MPI when, and which message is whose in all replicas.
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
  receive.wildcard = source == any_source || tag == any_tag;
  receive.ticket = order.post(source, tag);
  receive.has_ticket = true;
  auto early = early_matches_.end();
  if (receive.wildcard) {
    receive.number = mix(communicator, receive.ticket);
    receive.poster = poster;
    wildcards_[receive.number] = &receive;
    early = early_matches_.find(receive.number);
  }
  const bool waits = !(team_.leader() && active_leader_) && (receive.wildcard || !order.placed(receive.ticket));
  if (waits) {
    receive.stage = Verified::Stage::unplaced;
    waiting_[communicator][receive.ticket] = &receive;
  }
  if (early != early_matches_.end()) {  // at one that leads, the leader before it had said it
    const Match match = early->second;
    early_matches_.erase(early);
    on_match(receive.number, match.source, match.tag, match.poster);
  }
  if (!waits) give_to_mpi(receive);
}

void Replica::post_matched(Verified& receive, const MessageId& place) {
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
  receive.take_requeued(*requeued->bytes, requeued->source, requeued->tag);
  receive.pushed_back = true;
  receive.stage = requeued->verified ? Verified::Stage::complete : Verified::Stage::placing;
  std::erase_if(requeued_, [&](const Requeued& one) { return &one == requeued; });
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
  receive.order->resolve(receive.ticket, source, tag, now_placed);
  post_now_placed(receive.communicator, now_placed);
}

/// True when it was unresolved.
bool Replica::forget_wildcard(const Verified& receive) {
  const auto found = wildcards_.find(receive.number);
  if (found == wildcards_.end() || found->second != &receive) return false;
  wildcards_.erase(found);
  return true;
}

void Replica::arrived(Verified& receive, std::int32_t source, std::int32_t tag, bool failed) {
  receive.failed = failed;
  if (receive.wildcard && forget_wildcard(receive)) {
    host_.tell_match(receive.number, source, tag, receive.poster);
    resolve(receive, source, tag);
  }
  receive.stage = Verified::Stage::placing;
}

bool Replica::advance(Verified& receive) {
  using Stage = Verified::Stage;
  if (receive.stage == Stage::unplaced) {
    host_.await({Awaited::What::decision, team_.rank, team_.leading});
    return false;
  }
  if (receive.stage == Stage::placing) {
    if (receive.has_ticket && !receive.order->placed(receive.ticket)) {
      host_.await({Awaited::What::own_world, -1, team_.replica});
      return false;
    }
    if (receive.has_ticket) receive.place = receive.order->place(receive.ticket);
    read_message(receive);
  }
  if (receive.stage == Stage::comparing && !compare(receive)) return false;
  if (receive.stage == Stage::disputed) {
    if (!disputes_) host_.await({Awaited::What::correction, team_.rank, -1});
    if (!(disputes_ ? advance_dispute(receive) : take_correction(receive))) return false;
    deliverable(receive);
  }
  return receive.stage == Stage::complete;
}

void Replica::over(Verified& receive) {
  if (receive.has_ticket) receive.order->done(receive.ticket);
  receive.has_ticket = false;
}

void Replica::cancelled(Verified& receive) {
  const auto line = waiting_.find(receive.communicator);
  if (line != waiting_.end()) {
    line->second.erase(receive.ticket);
    if (line->second.empty()) waiting_.erase(line);
  }
  if (receive.wildcard) forget_wildcard(receive);
  std::vector<ReceiveOrder::Ticket> now_placed;
  receive.order->cancel(receive.ticket, now_placed);
  post_now_placed(receive.communicator, now_placed);
  receive.stage = Verified::Stage::complete;
}

void Replica::requeue(const Verified& receive, std::uint64_t bytes, std::int32_t source, std::int32_t tag,
                      bool verified) {
  requeued_.push_back({receive.communicator, source, tag, verified, receive.copy(std::min(bytes, receive.capacity()))});
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
  const auto found = wildcards_.find(number);
  if (found == wildcards_.end()) {
    early_matches_[number] = {source, tag, poster};
    return;
  }
  Verified& receive = *found->second;
  if (receive.poster != poster) {
    host_.fail(Incident::diverged, "replicas diverged: a wildcard receive of rank " + std::to_string(team_.rank) +
                                       " replica " + std::to_string(team_.replica) +
                                       " stands at another place among the receives of its communicator than the "
                                       "leader's" +
                                       host_.divergence_causes());
  }
  wildcards_.erase(found);
  resolve(receive, source, tag);
}

void Replica::take_lead() {
  active_leader_ = true;
  for (auto& [communicator, line] : std::exchange(waiting_, {})) {
    for (const auto& [ticket, receive] : line) give_to_mpi(*receive);
  }
}

std::vector<Verified*> Replica::matches_to_look_for() const {
  std::vector<Verified*> open;
  if (wildcards_.empty() || !team_.leader() || !active_leader_) return open;
  for (const auto& [number, receive] : wildcards_) open.push_back(receive);
  return open;
}

}  // namespace holdfast::replicate
