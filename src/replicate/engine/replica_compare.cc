// A message that has arrived: its place among the receives, and what the other senders said of it.
#include <algorithm>

#include "replicate/engine/replica.h"

namespace holdfast::replicate {

namespace {

Ballot half(const Ballot& ballot) {
  return {{ballot.digest.low, 0}, ballot.bytes, ballot.known};
}

/// MPI refused the message, does not say how long it was, and would refuse one of that length too: longer than the
/// buffer, or, under MPICH, the last element there in part.
bool refused_like(const Verified& receive, std::uint64_t bytes) {
  return receive.refused() && (bytes > receive.capacity() || receive.torn_by(bytes));
}

}  // namespace

/// How many processes send what it receives.
int Replica::senders_of(const Verified& receive) const {
  return map_.partial() ? map_.degree(receive.sender_rank()) : team_.degree;
}

void Replica::read_message(Verified& receive) {
  if (map_.partial() && senders_of(receive) == 1) {
    ++counters_[Count::unverified];
    receive.stage = Verified::Stage::complete;
    return;
  }
  receive.streams = &inbox_.streams(receive.channel());
  receive.counted = Verified::Counted::elements;
  if (receive.refused()) {
    receive.own = {{}, 0, false};
  } else {
    receive.own = receive.ballot(std::min(receive.received(), receive.capacity()));
  }
  receive.stage = Verified::Stage::comparing;
}

void Replica::deliverable(Verified& receive) {
  receive.stage = Verified::Stage::complete;
  note_delivered(receive);
  ++counters_[Count::messages];
  counters_[Count::bytes] += receive.own.bytes;
}

/// What a sender said of the message, and the receiver's own ballot to hold it to. Where one side has long doubles and
/// the other bytes or MPI_PACKED, only all the bytes can be compared, and of their digest the lower half was sent.
Ballot Replica::comparable(Verified& receive, const Arrival& said) const {
  if (said.padded == receive.padded()) return said.ballot;
  const bool to_count = receive.counted == Verified::Counted::elements && receive.own.known;
  if (to_count) receive.own = half(receive.whole_ballot(receive.own.bytes));
  receive.counted = Verified::Counted::all_bytes;
  return said.padded ? Ballot{{said.whole, 0}, said.ballot.bytes} : half(said.ballot);
}

bool Replica::compare(Verified& receive) {
  return setup_.protocol == Protocol::msg_plus_hash ? compare_with_below(receive) : compare_with_all(receive);
}

/// msg-plus-hash: the sender replica below has said something about the message.
bool Replica::compare_with_below(Verified& receive) {
  Stream& stream = (*receive.streams)[static_cast<std::size_t>(team_.below())];
  const Arrival* said = stream.find(receive.place.ordinal);
  if (!said) {
    host_.await({Awaited::What::verdict, receive.sender_rank(), team_.below()});
    return false;
  }
  receive.identity = {receive.channel(), said->sequence};
  const Ballot announced = comparable(receive, *said);
  stream.take(receive.place.ordinal);
  // Too long for the buffer in both replicas: the application's mistake, which MPI tells it at completion. Open MPI
  // does not tell before; of two replicas, the one whose message did fit reports the difference.
  const std::uint64_t capacity = receive.capacity();
  const bool cut = receive.refused() || (team_.degree == 2 && receive.own.bytes == capacity);
  const bool cut_alike =
      (cut && announced.bytes > capacity) || (team_.degree == 2 && refused_like(receive, announced.bytes));
  if (receive.own == announced || cut_alike || host_.tolerates(receive)) {
    if (disputes_ && disputes_->awaited()) {
      disputes_->agreed(receive.identity);
      send_statements();
    }
    deliverable(receive);
  } else if (team_.degree == 2) {
    report_pair(receive, announced);
    deliverable(receive);
  } else {
    open_dispute(receive, announced);
  }
  return true;
}

/// Every other sender replica has said something about the message.
bool Replica::compare_with_all(Verified& receive) {
  const auto senders = static_cast<std::size_t>(senders_of(receive));
  const std::size_t own = static_cast<std::size_t>(team_.replica) % senders;  // whose message this is
  std::vector<Ballot> ballots(senders);
  std::vector<Copy> copies(senders);
  for (std::size_t k = 0; k < senders; ++k) {
    if (k == own || !team_.here(static_cast<int>(k))) continue;
    const Arrival* said = (*receive.streams)[k].find(receive.place.ordinal);
    if (!said || !said->complete) {
      host_.await({Awaited::What::verdict, receive.sender_rank(), static_cast<int>(k)});
      return false;
    }
    receive.identity = {receive.channel(), said->sequence};
    copies[k] = said->copy;
    ballots[k] = copies[k] && receive.padded() ? receive.ballot_of_copy(*copies[k]) : comparable(receive, *said);
  }
  ballots[own] = receive.own;
  for (std::size_t k = 0; k < senders; ++k)
    if (k != own && team_.here(static_cast<int>(k))) (*receive.streams)[k].take(receive.place.ordinal);
  if (mistaken_everywhere(receive, ballots, own)) {
    receive.set_refused(true);
    deliverable(receive);
    return true;
  }
  if (senders > 2) require_supply(receive, ballots);
  settle(receive, ballots, copies);
  if (receive.stage == Verified::Stage::complete) deliverable(receive);
  if (receive.stage == Verified::Stage::disputed) ask_for_correction(receive, ballots);
  return true;
}

/// Whether the message is the application's mistake, which MPI tells it at completion: that of each other replica
/// longer than the buffer, or of a length that MPI refused here. Open MPI does not tell before that one was too long.
bool Replica::mistaken_everywhere(const Verified& receive, std::span<const Ballot> ballots, std::size_t own) const {
  int others = 0;
  bool longer = receive.refused() || receive.own.bytes == receive.capacity();
  bool refused = receive.refused();
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    if (k == own || !team_.here(static_cast<int>(k))) continue;
    ++others;
    longer = longer && ballots[k].bytes > receive.capacity();
    refused = refused && refused_like(receive, ballots[k].bytes);
  }
  return others == 0 ? receive.refused() : longer || refused;
}

/// A message that MPI refuses for its length cannot be given to a replica whose own it took.
void Replica::require_supply(const Verified& receive, std::span<const Ballot> ballots) {
  const Verdict verdict = vote(ballots);
  if (verdict.winner < 0) return;
  const std::uint64_t length = ballots[static_cast<std::size_t>(verdict.winner)].bytes;
  if (length <= receive.capacity() && !refused_like(receive, length)) return;
  host_.fail(Incident::uncorrected, described(receive) +
                                        ": MPI refuses the majority's copy for its length, and took another replica's" +
                                        ballot_list(ballots));
}

/// msg-plus-vote: this replica lost the vote over a message. Whoever has the good copy supplies it when it compares the
/// message itself, and is asked to do that now: its application may be waiting for something else.
void Replica::ask_for_correction(const Verified& receive, std::span<const Ballot> ballots) {
  const std::size_t own = static_cast<std::size_t>(team_.replica) % ballots.size();
  asking_[receive.identity] = {described(receive), ballots[own], receive.supplier};
  send_statement(receive.supplier, receive.identity, {Statement::Kind::probe, ballots[own], {}, false});
}

void Replica::on_question(int from_replica, const MessageId& id, const Ballot& held) {
  const Question question{from_replica, id, held};
  if (compared(id)) {
    answer_too_late(question);
  } else {
    asked_for_.push_back(question);
  }
}

/// Whoever lost by what its sender announced was sent the copy when this replica compared the message, before this.
void Replica::answer_too_late(const Question& question) {
  send_statement(question.from_replica, question.id, {.kind = Statement::Kind::agrees});
}

/// Whether nobody supplies the one that asks in any case. One that lost by what its sender announced may have heard of
/// the death of the one that was to supply it, and asks the next.
bool Replica::needs_supply(const Verified& verified, const Ballot& good, std::span<const Ballot> held,
                           const Question& question) const {
  const auto from = static_cast<std::size_t>(question.from_replica);
  if (verified.is_message() && held[from] == good) return !(question.held == good);
  return holder_for(question.from_replica, good, held) != team_.replica;
}

/// The message was compared: one that asks may have got other bytes than its sender announced, so that nobody else
/// knows that it lacks the good ones. Those that lost by what was announced are supplied in any case.
void Replica::answer_questions(const Verified& verified, const Ballot& good, std::span<const Ballot> held) {
  std::erase_if(asked_for_, [&](const Question& question) {
    if (!(question.id == verified.identity)) return false;
    if (!(verified.own == good)) {
      answer_too_late(question);
    } else if (needs_supply(verified, good, held, question)) {
      supply(verified, question.from_replica);
    }
    return true;
  });
}

bool Replica::correction_is_coming(const MessageId& id) const {
  return corrections_.contains(id) || std::any_of(transfers_.begin(), transfers_.end(), [&](const auto& entry) {
           return entry.second.id == id && entry.second.kind == RecordKind::correction;
         });
}

/// The replica that this one asked is past the message: it had seen no reason to send its copy. It may have it still.
void Replica::on_late_answer(int from_replica, const MessageId& id) {
  const auto asked = asking_.find(id);
  if (asked == asking_.end() || correction_is_coming(id)) return;
  if (names_result(id))
    host_.fail(Incident::uncorrected, asked->second.about + ": a replica died while it was voted on, and replica " +
                                          std::to_string(from_replica) + ", which has the good copy, is past it");
  if (asked->second.of == from_replica) ask_next(id, asked->second);
}

void Replica::ask_who_still_has_it(const Verified& receive, int first) {
  Asked& asked = asking_[receive.identity] = {described(receive), receive.own, first};
  ask_next(receive.identity, asked);
}

/// Asks the replicas that are left, one after the other, from the one that was asked last on.
void Replica::ask_next(const MessageId& id, Asked& asked) {
  asked.tried.resize(static_cast<std::size_t>(team_.degree));
  for (int step = 0; step < team_.degree; ++step) {
    const int k = (asked.of + team_.degree - step) % team_.degree;
    if (k == team_.replica || !team_.here(k) || asked.tried[static_cast<std::size_t>(k)]) continue;
    asked.tried[static_cast<std::size_t>(k)] = true;
    asked.of = k;
    send_statement(k, id, {.kind = Statement::Kind::lacks, .own = asked.held});
    return;
  }
  host_.withdraw(
      asked.about +
      ": this replica's copy is wrong, and none that is left has the good one in its memory any more: it was "
      "altered on its way, after its sender had announced it, or the replica that was to supply it died");
}

/// Others may lack the message later where a majority of its senders tells which is right.
void Replica::note_delivered(const Verified& receive) {
  if (receive.own.bytes < setup_.copied_below || setup_.protocol == Protocol::all_to_all) return;
  if (team_.degree < 2 || senders_of(receive) < 3) return;
  if (receive.refused() || receive.counted != Verified::Counted::elements) return;
  if (const std::byte* memory = receive.memory()) delivered_.note(receive.identity, receive.own, memory);
}

/// What was delivered under that name, if its memory still holds it.
Copy Replica::recall(const MessageId& message) {
  const DeliveredMessages::Delivered* found = delivered_.find(message);
  if (!found) return nullptr;
  const Copy bytes = host_.read_if_there(found->memory, found->ballot.bytes);
  return bytes && host_.digest(*bytes) == found->ballot ? bytes : nullptr;
}

/// Another replica lacks a message. Where this one has delivered it, its application may have left it where it is.
void Replica::on_want(int from_replica, const MessageId& id, const Ballot& held) {
  const Question question{from_replica, id, held};
  if (names_result(id)) return answer_too_late(question);
  if (!compared(id)) {
    asked_for_.push_back(question);
  } else if (const Copy bytes = recall(id)) {
    send_correction({team_.rank, from_replica}, id, bytes);
  } else {
    answer_too_late(question);
  }
}

void Replica::arrived(Verified& receive, std::int32_t source, std::int32_t tag, bool failed) {
  receive.set_refused(failed);
  if (receive.wildcard && forget_wildcard(receive)) {
    decisions_.tell_match(receive.wildcard->number, source, tag, receive.wildcard->poster);
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
    if (receive.ticket && !receive.order->placed(*receive.ticket)) {
      host_.await({Awaited::What::own_world, -1, team_.replica});
      return false;
    }
    if (receive.ticket) receive.place = receive.order->place(*receive.ticket);
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
  if (receive.ticket) receive.order->done(*receive.ticket);
  receive.ticket.reset();
}

}  // namespace holdfast::replicate
