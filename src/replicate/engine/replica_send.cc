// What a sender tells the receivers in the other replicas of a message.
#include "replicate/engine/replica.h"

namespace holdfast::replicate {

namespace {

Record record_of(const Outgoing& message, RecordKind kind) {
  Record record;
  record.kind = kind;
  record.communicator = message.communicator;
  record.source = message.source;
  record.tag = message.tag;
  record.ordinal = message.ordinal;
  return record;
}

Record digest_of(const Outgoing& message, const Contents& contents) {
  Record record = record_of(message, RecordKind::digest);
  const std::uint64_t bytes = contents.capacity();
  const Ballot ballot = contents.ballot(bytes);
  record.digest = ballot.digest;
  record.bytes = ballot.bytes;
  if (!contents.padded()) return record;
  record.flags = padded_elements;
  record.extra = contents.whole_ballot(bytes).digest.low;
  return record;
}

/// A majority of the senders may be processes none of which gives its message to a receiver: so receivers cannot supply
/// each other.
bool receivers_may_lack(int senders, int receivers) {
  return senders - receivers > senders / 2;
}

}  // namespace

void Replica::announce(const Outgoing& message, const Contents& contents) {
  if (map_.partial()) return announce_to_those_without(message, contents);
  if (setup_.protocol == Protocol::all_to_all) {
    Copy copy;
    for (int k = 0; k < team_.degree; ++k) {
      if (k == team_.replica || !team_.here(k)) continue;
      if (!copy) copy = contents.copy(contents.capacity());
      send_copy({message.to_rank, k}, message, copy);
    }
    return;
  }
  if (team_.present == 1) return;
  const Record digest = digest_of(message, contents);
  const int audience = setup_.protocol == Protocol::msg_plus_hash ? 1 : team_.degree - 1;
  for (int step = 1; step <= audience; ++step) {
    const int to = (team_.replica + step) % team_.degree;
    if (team_.here(to)) send_digest({message.to_rank, to}, digest);
  }
}

void Replica::announce_to_those_without(const Outgoing& message, const Contents& contents) {
  const int receivers = map_.degree(message.to_rank);
  const bool whole = setup_.protocol == Protocol::all_to_all || receivers_may_lack(team_.degree, receivers);
  if (!whole && team_.degree == 1) return;
  const Record digest = whole ? Record{} : digest_of(message, contents);
  Copy copy;
  for (int to = 0; to < receivers; ++to) {
    if (to % team_.degree == team_.replica) continue;  // it has the message
    if (!whole) {
      send_digest({message.to_rank, to}, digest);
      continue;
    }
    if (!copy) copy = contents.copy(contents.capacity());
    send_copy({message.to_rank, to}, message, copy);
  }
}

void Replica::send_digest(Process to, const Record& digest) {
  host_.send(to, digest);
  ++counters_[Count::records_sent];
}

void Replica::send_copy(Process to, const Outgoing& message, const Copy& copy) {
  Record announcing = record_of(message, RecordKind::payload);
  announcing.bytes = copy->size();
  announcing.extra = host_.send_copy(to, copy);
  host_.send(to, announcing);
  counters_[Count::payload_bytes] += copy->size();
}

}  // namespace holdfast::replicate
