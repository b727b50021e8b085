#include "replicate/mpi/dispute.h"

#include <algorithm>

#include "replicate/engine/control_message.h"
#include "replicate/mpi/correct.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/progress.h"
#include "replicate/mpi/receive.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/tolerance.h"

namespace holdfast::replicate {

namespace {

/// Messages that losers of a vote have asked this replica for and that it has not compared.
std::vector<MessageId> asked_for;

void send_statement(const Docket::Letter& letter) {
  Runtime& state = runtime();
  StatementTail tail;
  const Record record = record_of(letter.id, letter.statement, tail);
  state.post.send(state.team_native(letter.to), record, std::as_bytes(std::span(&tail, 1)));
  ++state.counters[Count::statements];
}

void send_statements() {
  auto& outgoing = runtime().docket->outgoing();
  for (const Docket::Letter& letter : outgoing) send_statement(letter);
  outgoing.clear();
}

/// Whether this replica has compared the message that others name so.
bool compared(const MessageId& id) {
  Runtime& state = runtime();
  if (state.partial) {  // only those who say something about its messages have a lane in use
    const std::vector<Lane>& lanes = state.inbox->lanes(id.channel);
    return std::any_of(lanes.begin(), lanes.end(), [&](const Lane& lane) { return lane.took(id.ordinal); });
  }
  int below = (state.replica + state.degree - 1) % state.degree;
  while (!state.here(below)) below = (below + state.degree - 1) % state.degree;
  return state.inbox->lanes(id.channel)[static_cast<std::size_t>(below)].took(id.ordinal);
}

[[noreturn]] void end_hopeless(const Operation& op, const Dispute& dispute) {
  std::string why;
  switch (dispute.ruling()) {
    case Dispute::Ruling::no_majority:
      fail(Incident::uncorrected, described(op) + no_majority(dispute.senders()));
    case Dispute::Ruling::taken:
      why =
          ": neighbouring replicas of the sender sent the same wrong copy, and a receiver took it; msg-plus-vote would "
          "correct it";
      break;
    default:
      why = ": a replica of the sender announced another digest than that of the message it sent";
      break;
  }
  fail(Incident::uncorrected, described(op) + why + ballot_list(dispute.senders()));
}

/// The receive is over its dispute.
void leave(Operation& op) {
  forget_in_background(op);
  runtime().docket->close(op.identity);
}

bool keep(Operation& op, const Dispute& dispute) {
  if (dispute.good().bytes <= op.region.bytes()) {  // else it is the application's mistake, which MPI tells it
    for (const int loser : dispute.supplied()) supply(op, loser);
  }
  op.own = dispute.good();
  leave(op);
  return true;
}

bool replace(Operation& op, const Dispute& dispute) {
  if (dispute.good().bytes > op.region.bytes()) {
    fail(Incident::uncorrected,
         described(op) + ": the majority's copy is longer than the receive buffer" + ballot_list(dispute.senders()));
  }
  op.failed = dispute.senders()[static_cast<std::size_t>(runtime().replica)].bytes > op.region.bytes();
  op.own = dispute.good();
  set_awaited({Awaited::What::correction, runtime().rank, -1});
  if (!take_correction(op)) return false;
  leave(op);
  return true;
}

}  // namespace

void open_dispute(Operation& op, const Ballot& announced) {
  Runtime& state = runtime();
  ++state.counters[Count::disputes];
  op.stage = Operation::Stage::disputed;
  state.docket->open(op.identity, op.own, announced, op.own.bytes == op.region.bytes());
  send_statements();
  watch_in_background(op);
}

bool advance_dispute(Operation& op) {
  const Dispute& dispute = *runtime().docket->find(op.identity);
  switch (dispute.ruling()) {
    case Dispute::Ruling::open:
      set_awaited({Awaited::What::verdict, runtime().rank, dispute.silent()});
      return false;
    case Dispute::Ruling::keep:
      return keep(op, dispute);
    case Dispute::Ruling::replace:
      return replace(op, dispute);
    default:
      end_hopeless(op, dispute);
  }
}

void note_agreement(const MessageId& id) {
  Runtime& state = runtime();
  if (!state.docket || !state.docket->awaited()) return;
  state.docket->agreed(id);
  send_statements();
}

void ask_for_correction(Operation& op, int holder, std::span<const Ballot> ballots) {
  const std::size_t own = static_cast<std::size_t>(runtime().replica) % ballots.size();
  send_statement({holder, op.identity, {Statement::Kind::probe, ballots[own], {}, false}});
}

void receive_statement(const ControlMessage& message) {
  Runtime& state = runtime();
  const MessageId id = message.record.id();
  if (!state.docket) {
    if (!compared(id)) asked_for.push_back(id);
    return;
  }
  state.docket->hear(message.from.replica, id, statement_in(message), compared(id));
  send_statements();
}

void compare_what_others_ask_about() {
  Runtime& state = runtime();
  if (asked_for.empty() && !(state.docket && state.docket->awaited())) return;
  state.requests.for_each([](Operation& op) {
    const bool waiting = op.kind == Operation::Kind::receive && op.active && !op.cancel_asked;
    if (waiting && op.stage != Operation::Stage::complete) advance_receive(op);
  });
  std::erase_if(asked_for, compared);
}

}  // namespace holdfast::replicate
