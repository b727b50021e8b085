// Results of collectives, and whatever else the replicas of one rank compare by a name that all of them know: each
// tells the others what it has, and settles when all that are left have said so (RedMPI has no such thing: its
// collectives are messages; docs/design/replication.md).
#include "replicate/engine/replica.h"

namespace holdfast::replicate {

Poll& Replica::poll_of(const MessageId& result) {
  Poll& poll = polls_[result];
  if (poll.ballots.empty()) {
    poll.ballots.resize(static_cast<std::size_t>(team_.degree), {{}, 0, false});
    poll.whats.resize(poll.ballots.size());
    poll.signals.resize(poll.ballots.size());
  }
  return poll;
}

void Replica::offer(const MessageId& result, const Ballot& own, std::uint16_t function, std::uint64_t what,
                    std::uint8_t signal) {
  Record record;
  record.kind = RecordKind::collective;
  record.set_id(result);
  record.flags = function;
  record.digest = own.digest;
  record.bytes = own.bytes;
  record.extra = what;
  for (int k = 0; k < team_.degree; ++k) {
    if (k == team_.replica || !team_.here(k)) continue;
    host_.send({team_.rank, k}, record, std::as_bytes(std::span(&signal, signal != 0)));
    ++counters_[Count::records_sent];
  }
  Poll& poll = poll_of(result);
  poll.function = function;
  poll.ballots[static_cast<std::size_t>(team_.replica)] = own;
  poll.whats[static_cast<std::size_t>(team_.replica)] = what;
  poll.signals[static_cast<std::size_t>(team_.replica)] = signal;
}

void Replica::on_ballot(const ControlMessage& message) {
  const Record& record = message.record;
  Poll& poll = poll_of(record.id());
  const auto replica = static_cast<std::size_t>(message.from.replica);
  poll.function = record.flags;
  poll.ballots[replica] = {record.digest, record.bytes, true};
  poll.whats[replica] = record.extra;
  poll.signals[replica] = message.tail.empty() ? 0 : static_cast<std::uint8_t>(message.tail[0]);
}

std::optional<Poll> Replica::take_poll(const MessageId& result) {
  const auto found = polls_.find(result);
  if (found == polls_.end()) return std::nullopt;
  for (int k = 0; k < team_.degree; ++k)
    if (team_.here(k) && !found->second.ballots[static_cast<std::size_t>(k)].known) return std::nullopt;
  std::optional<Poll> complete = std::move(found->second);
  polls_.erase(found);
  return complete;
}

}  // namespace holdfast::replicate
