// Receives and messages find each other by the rules of libfabric (fi_tagged(3)) and MPI: a message takes the first
// posted receive that fits, a receive the first message that fits, and messages of one peer come in the order of their
// sends.
#include <algorithm>
#include <cstring>
#include <optional>

#include "transport/engine/core.h"
#include "transport/engine/planted.h"

namespace holdfast::transport {

bool Core::fits(const ReceiveOp& op, const Envelope& envelope) {
  return (op.peer == any_peer || op.peer == envelope.peer) &&
         (!envelope.tagged || ((op.tag ^ envelope.tag) & ~op.ignore) == 0);
}

ReceiveOp* Core::find_posted(const Envelope& envelope) {
  for (ReceiveOp* op = posted_[envelope.tagged].first(); op != nullptr; op = PostedList::next(op)) {
    if (fits(*op, envelope)) return op;
  }
  return nullptr;
}

InMessage* Core::find_unexpected(const ReceiveRequest& request) {
  for (InMessage* message = unexpected_[request.tagged].first(); message != nullptr;
       message = UnexpectedList::next(message)) {
    if (message->claimed) continue;
    if (request.peer != any_peer && request.peer != message->peer->id) continue;
    if (!request.tagged || ((request.tag ^ message->tag) & ~request.ignore) == 0) return message;
  }
  return nullptr;
}

Posted Core::receive(const ReceiveRequest& request) {
  if (request.pieces.size() > most_pieces) return Posted::invalid;
  const bool lost = request.peer != any_peer && given_up(request.peer).has_value();
  if (lost && find_unexpected(request) == nullptr) return Posted::lost;  // what came before it was is still received
  if (request.multi && (request.tagged || request.pieces.size() != 1 || request.least_bytes == 0)) {
    return Posted::invalid;
  }
  ReceiveOp& op = *new_receive(request);
  post(op);
  while (op.posted) {
    InMessage* message = find_unexpected(request);
    if (message == nullptr) break;
    unexpected_[request.tagged].remove(message);
    bind(*message, op);  // may release the receive
    if (!request.multi) break;
  }
  if (lost && op.posted) fail_directed(*peer(request.peer), *given_up(request.peer));
  return Posted::accepted;
}

ReceiveOp* Core::new_receive(const ReceiveRequest& request) {
  ReceiveOp* op = receives_.take();
  op->pieces.set(request.pieces);
  op->peer = request.peer;
  op->tagged = request.tagged;
  op->multi = request.multi;
  op->silent = request.silent;
  op->tag = request.tag;
  op->ignore = request.ignore;
  op->least_bytes = request.least_bytes;
  op->context = request.context;
  return op;
}

void Core::post(ReceiveOp& op) {
  posted_[op.tagged].push_back(&op);
  op.posted = true;
  if (op.peer == any_peer) return;
  Peer& from = *peer(op.peer);
  begin_waiting(from);
  ++from.directed_receives;
}

void Core::unpost(ReceiveOp& op) {
  if (!op.posted) return;
  posted_[op.tagged].remove(&op);
  op.posted = false;
  if (op.peer != any_peer) --peers_[op.peer]->directed_receives;
}

// Where the receive would have a message of this length.
Pieces Core::target_for(const ReceiveOp& op, std::uint64_t total) const {
  if (!op.multi) return op.pieces;
  Pieces target;
  const std::size_t left = op.pieces.bytes - op.used_bytes;
  target.set(static_cast<std::byte*>(op.pieces.list[0].iov_base) + op.used_bytes, std::min<std::size_t>(left, total));
  return target;
}

// The receive has taken a message of this length.
void Core::take_into(ReceiveOp& op, std::uint64_t total) {
  ++op.active;
  if (op.multi) {
    op.used_bytes += std::min<std::uint64_t>(op.pieces.bytes - op.used_bytes, total);
    if (op.pieces.bytes - op.used_bytes >= op.least_bytes) return;
  }
  unpost(op);
}

// A message, next in order, that is whole, or in part here, or announced: to a receive, or to the unexpected ones.
void Core::admit(InMessage& message) {
  if (ReceiveOp* op = find_posted({message.peer->id, message.tagged, message.tag})) {
    bind(message, *op);
    return;
  }
  ++count(Count::unexpected_messages);
  unexpected_[message.tagged].push_back(&message);
}

void Core::admit_parked(Peer& peer) {
  while (InMessage* message = peer.parked.find(peer.next_match)) {
    peer.parked.erase(peer.next_match);
    message->parked = false;
    ++peer.next_match;
    admit(*message);
  }
}

// The receive takes the message, which is in no unexpected list.
void Core::bind(InMessage& message, ReceiveOp& op) {
  Peer& peer = *message.peer;
  message.target = target_for(op, message.total);
  message.op = &op;
  message.claimed = false;
  take_into(op, message.total);
  consumed(peer);
  if (message.announced) {
    message.wanted = std::min<std::uint64_t>(message.total, message.target.bytes);
    message.received = 0;
    post_control(peer, wire::MessageKind::clear_to_send, message.sender_handle, Pool<InMessage>::handle(&message),
                 message.wanted);
    pump(peer);
    return;
  }
  if (message.complete()) {
    message_complete(message);
  }
}

// All bytes of a message with a receive, or of one that waits for one, are here.
void Core::message_complete(InMessage& message) {
  Peer& peer = *message.peer;
  if (message.tabled) {
    peer.open.erase(message.number);
    message.tabled = false;
  }
  if (Peer::InList::linked(&message)) peer.incoming.remove(&message);
  if (message.discarded) {
    release_in_message(message);
    return;
  }
  if (message.op == nullptr) return;
  if (message.buffer != nullptr) {
    integrity::scatter_with_checksum(integrity::Checksum::none, message.target.span(), 0,
                                     {message.buffer, message.total});
  }
  finish_receive(*message.op, message, Outcome::ok);
  release_in_message(message);
}

void Core::finish_receive(ReceiveOp& op, const InMessage& message, Outcome outcome) {
  Completion completion;
  completion.kind = Completion::Kind::receive;
  completion.tagged = message.tagged;
  completion.has_data = message.has_data;
  completion.peer = message.peer->id;
  completion.context = op.context;
  completion.tag = message.tag;
  completion.data = message.data;
  completion.message_bytes = message.total;
  completion.bytes = outcome == Outcome::ok ? std::min<std::uint64_t>(message.total, message.target.bytes) : 0;
  completion.buffer = message.target.count > 0 ? static_cast<std::byte*>(message.target.list[0].iov_base) : nullptr;
  completion.outcome = outcome == Outcome::ok && completion.bytes < message.total ? Outcome::truncated : outcome;
  if (outcome == Outcome::ok) {
    ++count(Count::messages_received);
    count(Count::bytes_received) += completion.bytes;
  }
  --op.active;
  complete_receive(op, completion);
}

// Tells of a message, or of the end, of a receive, and releases it when it takes no more.
void Core::complete_receive(ReceiveOp& op, Completion completion) {
  completion.released = !op.posted && op.active == 0;
  const bool silent = op.silent && completion.outcome == Outcome::ok;
  if (completion.released) release_receive(op);
  if (!silent) tell(completion);
}

void Core::release_receive(ReceiveOp& op) {
  receives_.give(&op);
}

void Core::tell(const Completion& completion) {
  if (is_planted(Planted::lose_completion) && completion.tag % 11 == 5) return;
  host_.complete(completion);
}

std::optional<Waiting> Core::peek(const ReceiveRequest& request, bool claim) {
  InMessage* message = find_unexpected(request);
  if (message == nullptr) return std::nullopt;
  if (claim) {
    message->claimed = true;
    message->claim_context = request.context;
  }
  return Waiting{.peer = message->peer->id,
                 .tagged = message->tagged,
                 .has_data = message->has_data,
                 .tag = message->tag,
                 .data = message->data,
                 .bytes = message->total};
}

InMessage* Core::find_claimed(void* context) {
  for (UnexpectedList& list : unexpected_) {
    for (InMessage* message = list.first(); message != nullptr; message = UnexpectedList::next(message)) {
      if (message->claimed && message->claim_context == context) return message;
    }
  }
  return nullptr;
}

Posted Core::receive_claimed(const ReceiveRequest& request) {
  InMessage* message = find_claimed(request.context);
  if (message == nullptr || request.pieces.size() > most_pieces || request.multi) return Posted::invalid;
  unexpected_[message->tagged].remove(message);
  bind(*message, *new_receive(request));
  return Posted::accepted;
}

bool Core::discard_claimed(void* context) {
  InMessage* message = find_claimed(context);
  if (message == nullptr) return false;
  Peer& from = *message->peer;
  unexpected_[message->tagged].remove(message);
  consumed(from);
  if (message->announced) {
    post_control(from, wire::MessageKind::clear_to_send, message->sender_handle, 0, 0);
    release_in_message(*message);
    pump(from);
  } else if (message->complete()) {
    release_in_message(*message);
  } else {
    message->discarded = true;
  }
  return true;
}

bool Core::cancel(void* context) {
  for (PostedList& list : posted_) {
    for (ReceiveOp* op = list.first(); op != nullptr; op = PostedList::next(op)) {
      if (op->context != context) continue;
      unpost(*op);
      if (op->active > 0) return true;  // a multi-receive: the last of its messages releases it
      Completion completion;
      completion.kind = Completion::Kind::receive;
      completion.outcome = Outcome::canceled;
      completion.peer = op->peer;
      completion.context = op->context;
      completion.tagged = op->tagged;
      completion.tag = op->tag;
      complete_receive(*op, completion);
      return true;
    }
  }
  return false;
}

// Of a session that ends: whole messages that wait for a receive, and before which one did not come whole.
void Core::drop_after_gap(Peer& peer) {
  if (peer.incoming.empty()) return;
  std::optional<std::uint32_t> gap;
  for (const InMessage* each = peer.incoming.first(); each != nullptr; each = Peer::InList::next(each)) {
    const bool ordered = each->kind == wire::MessageKind::eager || each->announced;
    if (ordered && (!gap || serial_less(each->order, *gap))) gap = each->order;
  }
  if (!gap) return;
  for (UnexpectedList& list : unexpected_) {
    for (InMessage* message = list.first(); message != nullptr;) {
      InMessage* next = UnexpectedList::next(message);
      if (message->peer == &peer && message->complete() && serial_less(*gap, message->order)) {
        list.remove(message);
        release_in_message(*message);
      }
      message = next;
    }
  }
}

// The receives that only this peer could have answered.
void Core::fail_directed(Peer& peer, Outcome outcome) {
  for (PostedList& list : posted_) {
    for (ReceiveOp* op = list.first(); op != nullptr;) {
      ReceiveOp* next = PostedList::next(op);
      if (op->peer == peer.id) {
        unpost(*op);
        Completion completion;
        completion.kind = Completion::Kind::receive;
        completion.outcome = outcome;
        completion.peer = op->peer;
        completion.context = op->context;
        completion.tagged = op->tagged;
        completion.tag = op->tag;
        if (op->active == 0) complete_receive(*op, completion);
      }
      op = next;
    }
  }
}

}  // namespace holdfast::transport
