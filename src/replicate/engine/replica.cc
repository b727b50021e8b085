#include "replicate/engine/replica.h"

namespace holdfast::replicate {

Replica::Replica(const Setup& setup, const Membership& team, const ReplicaMap& map, Counters& counters, Host& host)
    : setup_(setup),
      team_(team),
      map_(map),
      counters_(counters),
      host_(host),
      decisions_(team, setup.survives, counters, host, *this),
      inbox_(map.degree()) {
  if (setup.protocol == Protocol::msg_plus_hash && team.degree > 2) disputes_.emplace(team.degree, team.replica);
}

bool Replica::on_message(const ControlMessage& message) {
  switch (message.record.kind) {
    case RecordKind::digest:
      on_digest(message);
      return true;
    case RecordKind::collective:
      on_ballot(message);
      return true;
    case RecordKind::payload:
    case RecordKind::correction:
    case RecordKind::contested:
      on_announced_copy(message);
      return true;
    case RecordKind::statement:
      on_statement(message);
      return true;
    case RecordKind::again:
      on_again(message);
      return true;
    case RecordKind::decision:
      decisions_.on_decisions(message);
      return true;
    case RecordKind::succession:
      decisions_.on_succession(message);
      return true;
    default:
      return false;
  }
}

void Replica::on_digest(const ControlMessage& message) {
  const Record& record = message.record;
  Arrival arrival;
  arrival.ballot = {record.digest, record.bytes, true};
  arrival.sequence = record.ordinal;
  arrival.padded = (record.flags & padded_elements) != 0;
  arrival.whole = record.extra;
  inbox_.streams(record.id().channel)[static_cast<std::size_t>(message.from.replica)].push(std::move(arrival));
}

void Replica::on_announced_copy(const ControlMessage& message) {
  const Record& record = message.record;
  Transfer transfer{record.kind, record.id(), message.from.replica,
                    std::make_shared<std::vector<std::byte>>(record.bytes)};
  if (record.kind == RecordKind::payload) {
    transfer.streams = &inbox_.streams(transfer.id.channel);
    Stream& stream = (*transfer.streams)[static_cast<std::size_t>(transfer.from_replica)];
    transfer.ordinal = stream.pushed();
    Arrival arrival;
    arrival.sequence = record.ordinal;
    arrival.complete = false;
    stream.push(std::move(arrival));
  }
  const std::uint64_t token = next_token_++;
  host_.receive_copy(message.from, record.extra, transfer.bytes, token);
  transfers_.emplace(token, std::move(transfer));
}

void Replica::on_copy(std::uint64_t token) {
  const auto found = transfers_.find(token);
  if (found == transfers_.end()) return;  // from a replica that is gone
  const Transfer transfer = std::move(found->second);
  transfers_.erase(found);
  if (transfer.kind == RecordKind::correction) {
    corrections_[transfer.id] = transfer.bytes;
    return;
  }
  if (transfer.kind ==
      RecordKind::contested) {  // from one that has heard of a death earlier or later, if it is too late
    const bool here = contests_.contains(transfer.id) && contests_[transfer.id].copies.contains(team_.replica);
    if (!here && compared(transfer.id)) return answer_too_late({transfer.from_replica, transfer.id, {}});
    contests_[transfer.id].copies[transfer.from_replica] = transfer.bytes;
    return;
  }
  Arrival* arrival = (*transfer.streams)[static_cast<std::size_t>(transfer.from_replica)].find(transfer.ordinal);
  if (!arrival) return;
  arrival->ballot = host_.digest(*transfer.bytes);
  arrival->copy = transfer.bytes;
  arrival->complete = true;
}

void Replica::peer_gone(int replica) {
  std::erase_if(transfers_, [&](const auto& entry) { return entry.second.from_replica == replica; });
  departures_.push_back(replica);
  for (auto& [id, asked] : asking_)
    if (asked.of == replica && !names_result(id) && !correction_is_coming(id)) ask_next(id, asked);
  decisions_.peer_gone();
}

std::string Replica::kept() const {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(inbox_.waiting(), "verifications");
  add(at_rest() ? 0 : 1, "disputes");
  add(wildcards_.size(), "wildcards");
  add(early_matches_.size(), "early matches");
  add(waiting_.size(), "communicators with receives to post");
  add(requeued_.size(), "requeued messages");
  add(corrections_.size(), "corrections");
  add(polls_.size(), "polls");
  add(contests_.size(), "contested results");
  add(repeats_.size(), "reductions without a majority");
  add(transfers_.size(), "copies on their way");
  add(asked_for_.size(), "questions");
  add(asking_.size(), "questions of its own");
  return text;
}

}  // namespace holdfast::replicate
