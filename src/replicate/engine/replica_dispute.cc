// Disputes over messages, as dispute.h settles them: what replicas say to each other travels as records, and a receive
// in dispute goes on when its dispute is ruled upon.
#include <algorithm>
#include <cstdlib>

#include "replicate/engine/replica.h"

namespace holdfast::replicate {

void Replica::open_dispute(Verified& receive, const Ballot& announced) {
  ++counters_[Count::disputes];
  receive.stage = Verified::Stage::disputed;
  disputes_->open(receive.identity, receive.own, announced, receive.own.bytes == receive.capacity());
  send_statements();
  host_.watch(receive);
}

/// True when the receive can be delivered: kept, after copies went to those who lack it, or replaced. Ends the job
/// where it cannot be told which copy is right.
bool Replica::advance_dispute(Verified& receive) {
  const Dispute& dispute = *disputes_->find(receive.identity);
  switch (dispute.ruling()) {
    case Dispute::Ruling::open:
      host_.await({Awaited::What::verdict, team_.rank, dispute.silent()});
      return false;
    case Dispute::Ruling::keep:
      return keep(receive, dispute);
    case Dispute::Ruling::replace:
      return replace(receive, dispute);
    case Dispute::Ruling::altered:
      return take_what_others_have(receive);
    default:
      end_hopeless(receive, dispute);
  }
}

bool Replica::keep(Verified& receive, const Dispute& dispute) {
  if (dispute.good().bytes <= receive.capacity()) {  // else it is the application's mistake, which MPI tells it
    for (const int loser : dispute.supplied()) supply(receive, loser);
  }
  receive.own = dispute.good();
  leave_dispute(receive);
  return true;
}

bool Replica::replace(Verified& receive, const Dispute& dispute) {
  if (dispute.good().bytes > receive.capacity()) {
    host_.fail(Incident::uncorrected, described(receive) + ": the majority's copy is longer than the receive buffer" +
                                          ballot_list(dispute.senders()));
  }
  receive.set_refused(dispute.senders()[static_cast<std::size_t>(team_.replica)].bytes > receive.capacity());
  receive.own = dispute.good();
  host_.await({Awaited::What::correction, team_.rank, -1});
  if (!take_correction(receive)) return false;
  leave_dispute(receive);
  return true;
}

/// All others have delivered the same. Whether this replica's message was altered, or the digest that it was given, is
/// seen from theirs.
bool Replica::take_what_others_have(Verified& receive) {
  if (!asking_.contains(receive.identity)) ask_who_still_has_it(receive, team_.below());
  host_.await({Awaited::What::correction, team_.rank, -1});
  const auto found = corrections_.find(receive.identity);
  if (found == corrections_.end()) return false;
  if (ballot_of_copy(receive, *found->second) == receive.own) {
    note_culprit(receive, team_.below());
    corrections_.erase(found);
    asking_.erase(receive.identity);
  } else {
    receive.own = disputes_->find(receive.identity)->said_below();
    if (!take_correction(receive)) return false;
  }
  leave_dispute(receive);
  return true;
}

void Replica::leave_dispute(Verified& receive) {
  host_.forget(receive);
  disputes_->close(receive.identity);
}

void Replica::end_hopeless(const Verified& receive, const Dispute& dispute) {
  std::string why;
  switch (dispute.ruling()) {
    case Dispute::Ruling::no_majority:
      host_.fail(Incident::uncorrected, described(receive) + no_majority(dispute.senders()));
      break;
    case Dispute::Ruling::taken:
      why =
          ": neighbouring replicas of the sender sent the same wrong copy, and a receiver took it; msg-plus-vote would "
          "correct it";
      break;
    default:
      why = ": a replica of the sender announced another digest than that of the message it sent";
      break;
  }
  host_.fail(Incident::uncorrected, described(receive) + why + ballot_list(dispute.senders()));
  std::abort();  // fail() does not return
}

void Replica::send_statement(int to_replica, const MessageId& id, const Statement& statement) {
  StatementTail tail;
  const Record record = record_of(id, statement, tail);
  host_.send({team_.rank, to_replica}, record, std::as_bytes(std::span(&tail, 1)));
  ++counters_[Count::statements];
}

void Replica::send_statements() {
  auto& outgoing = disputes_->outgoing();
  for (const DisputeTable::Message& message : outgoing) send_statement(message.to, message.id, message.statement);
  outgoing.clear();
}

void Replica::on_statement(const ControlMessage& message) {
  const MessageId id = message.record.id();
  const Statement statement = statement_in(message);
  const int from = message.from.replica;
  using Kind = Statement::Kind;
  if (statement.kind == Kind::lacks) return on_want(from, id, statement.own);
  if (statement.kind == Kind::agrees && asking_.contains(id)) return on_late_answer(from, id);
  if (!disputes_) {
    if (statement.kind == Kind::probe) on_question(from, id, statement.own);
    return;
  }
  disputes_->hear(from, id, statement, compared(id));
  send_statements();
}

/// Whether this replica has compared the message that others name so, or the result, of which it has said something.
bool Replica::compared(const MessageId& id) {
  if (names_result(id)) return !polls_.contains(id) && !unsettled(id);
  const std::vector<Stream>& streams = inbox_.streams(id.channel);
  if (map_.partial())  // only those who say something about its messages have a stream in use
    return std::any_of(streams.begin(), streams.end(), [&](const Stream& stream) { return stream.took(id.ordinal); });
  int below = team_.below();
  while (!team_.here(below)) below = (below + team_.degree - 1) % team_.degree;
  return streams[static_cast<std::size_t>(below)].took(id.ordinal);
}

void Replica::said() {
  std::erase_if(asked_for_, [&](const Question& question) {
    if (!compared(question.id)) return false;
    answer_too_late(question);
    return true;
  });
}

}  // namespace holdfast::replicate
