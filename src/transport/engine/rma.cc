// Remote memory: writes, reads and atomic operations, as messages of kinds of their own. The target answers each with
// one message, so that the initiator knows what became of it.
#include <algorithm>
#include <cstring>

#include "transport/engine/core.h"

namespace holdfast::transport {
namespace {

using wire::DataFrame;
using wire::MessageKind;

}  // namespace

Posted Core::write(const WriteRequest& request) {
  if (request.peer == any_peer || request.pieces.size() > most_pieces) return Posted::invalid;
  if (given_up(request.peer)) return Posted::lost;
  const std::size_t bytes = integrity::bytes_of(request.pieces);
  const bool logged = request.mode == SendMode::buffered;
  if (logged && bytes > options_.log_bytes) return Posted::invalid;
  if (logged && !log_has_room(bytes)) return Posted::again;
  Peer& to = *peer(request.peer);
  OutMessage& message = *new_message(to, MessageKind::rma_write);
  message.completion = Completion::Kind::write;
  message.silent = request.silent;
  message.has_data = request.has_data;
  message.data = request.data;
  message.context = request.context;
  message.tag = Pool<OutMessage>::handle(&message);
  message.extended = true;
  message.address = request.remote.address;
  message.key = request.remote.key;
  message.total = bytes;
  message.acknowledge_now = true;
  message.results.bytes = bytes;
  if (logged) {
    log_message(message, request.pieces, bytes);
  } else {
    message.pieces.set(request.pieces);
  }
  enqueue(message);
  pump(to);
  return Posted::accepted;
}

Posted Core::read(const ReadRequest& request) {
  if (request.peer == any_peer || request.pieces.size() > most_pieces) return Posted::invalid;
  if (given_up(request.peer)) return Posted::lost;
  Peer& to = *peer(request.peer);
  OutMessage& message = *new_message(to, MessageKind::rma_read);
  message.completion = Completion::Kind::read;
  message.silent = request.silent;
  message.context = request.context;
  message.tag = Pool<OutMessage>::handle(&message);
  message.extended = true;
  message.address = request.remote.address;
  message.key = request.remote.key;
  message.results.set(request.pieces);
  message.data = message.results.bytes;
  message.acknowledge_now = true;
  enqueue(message);
  pump(to);
  return Posted::accepted;
}

Posted Core::atomic(const AtomicRequest& request) {
  if (request.peer == any_peer || request.results.size() > most_pieces) return Posted::invalid;
  if (given_up(request.peer)) return Posted::lost;
  if (request.operands.size() + sizeof(std::uint64_t) > fragment_bytes || request.target_bytes > fragment_bytes) {
    return Posted::invalid;
  }
  Peer& to = *peer(request.peer);
  OutMessage& message = *new_message(to, MessageKind::atomic);
  message.completion = Completion::Kind::atomic;
  message.silent = request.silent;
  message.context = request.context;
  message.tag = Pool<OutMessage>::handle(&message);
  message.data = request.operation;
  message.has_data = !request.results.empty();  // the old values are wanted
  message.extended = true;
  message.address = request.remote.address;
  message.key = request.remote.key;
  message.results.set(request.results);
  message.acknowledge_now = true;
  // The payload: the target's length, then the operands.
  std::array<std::byte, sizeof(std::uint64_t)> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::byte>(request.target_bytes >> (8 * i));
  const std::array<iovec, 2> pieces = {iovec{length.data(), length.size()},
                                       iovec{const_cast<std::byte*>(request.operands.data()), request.operands.size()}};
  log_message(message, pieces, length.size() + request.operands.size());
  enqueue(message);
  pump(to);
  return Posted::accepted;
}

// Whether a message with so many bytes may write to this memory is judged by its first fragment that comes, and again
// by each: memory may be withdrawn in between.
Core::Landed Core::land_write(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  if (!intact(frame, payload)) return Landed::corrupt;
  InMessage* message = frame.bytes == frame.total ? nullptr : peer.open.find(frame.message);
  if (message != nullptr && (message->kind != MessageKind::rma_write || frame.total != message->total ||
                             frame.bytes > message->total - message->received)) {
    return Landed::refused;
  }
  if (message == nullptr) {
    message = new_in_message(peer, frame);
    message->sender_handle = frame.tag;
    if (frame.bytes != frame.total) {
      peer.open.insert(frame.message, message);
      message->tabled = true;
    }
  }
  std::byte* memory = host_.memory(frame.key, frame.address, frame.total, Access::write);
  if (memory == nullptr) {
    message->discarded = true;
  } else if (!payload.empty()) {
    std::memcpy(memory + frame.offset, payload.data(), payload.size());
  }
  message->received += frame.bytes;
  if (message->received < message->total) return Landed::good;
  const bool refused = message->discarded;
  if (!refused) host_.reached(frame.key, Access::write, false);
  post_control(peer, MessageKind::rma_done, frame.tag, refused ? 1 : 0, 0);
  if (!refused && message->has_data) {
    Completion completion;
    completion.kind = Completion::Kind::remote_write;
    completion.peer = peer.id;
    completion.has_data = true;
    completion.data = message->data;
    completion.bytes = completion.message_bytes = message->total;
    tell(completion);
  }
  release_in_message(*message);
  return Landed::good;
}

Core::Landed Core::land_read(Peer& peer, const DataFrame& frame) {
  std::byte* memory = host_.memory(frame.key, frame.address, frame.data, Access::read);
  if (memory == nullptr) {
    post_control(peer, MessageKind::rma_done, frame.tag, 1, 0);
    return Landed::good;
  }
  OutMessage& answer = *new_message(peer, MessageKind::rma_read_answer);
  answer.own = true;
  answer.reported = true;
  answer.tag = frame.tag;
  answer.key = frame.key;
  answer.total = frame.data;
  answer.pieces.set(memory, frame.data);
  answer.acknowledge_now = true;
  enqueue(answer);
  return Landed::good;
}

Core::Landed Core::land_answer(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  OutMessage* message = out_messages_.find(frame.tag);
  if (message == nullptr || !message->answerable_by(peer) || message->kind == MessageKind::rma_write ||
      frame.total != message->results.bytes || frame.bytes > frame.total - message->received) {
    return Landed::refused;
  }
  if (!fits(frame, integrity::scatter_with_checksum(frame.algorithm, message->results.span(), frame.offset, payload))) {
    return Landed::corrupt;
  }
  message->received += frame.bytes;
  if (message->received == frame.total) answered(*message, Outcome::ok);
  return Landed::good;
}

Core::Landed Core::land_done(Peer& peer, const DataFrame& frame) {
  OutMessage* message = out_messages_.find(frame.tag);
  if (message == nullptr || !message->answerable_by(peer)) return Landed::refused;
  answered(*message, frame.data == 0 ? Outcome::ok : Outcome::refused);
  return Landed::good;
}

// The target has answered, and so has everything. But until it has acknowledged everything too, fragments may go again,
// and those of a write that is sent from the caller's memory must find it as it was.
void Core::answered(OutMessage& message, Outcome outcome) {
  message.answered = true;
  message.outcome = outcome;
  if (message.log != nullptr || message.total == 0) report(message, outcome);
  if (message.acknowledged) try_release(message);
}

Core::Landed Core::land_atomic(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  if (frame.bytes != frame.total || payload.size() < sizeof(std::uint64_t)) return Landed::refused;
  if (!intact(frame, payload)) return Landed::corrupt;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < sizeof bytes; ++i) bytes |= std::to_integer<std::uint64_t>(payload[i]) << (8 * i);
  if (bytes > fragment_bytes) return Landed::refused;
  const bool fetch = (frame.flags & DataFrame::flag_data) != 0;
  std::byte* target = host_.memory(frame.key, frame.address, bytes, Access::atomic);
  std::byte* old_values = fetch && bytes > 0 ? buffers_.take(bytes) : nullptr;
  const bool done = target != nullptr &&
                    host_.apply_atomic(frame.data, target, bytes, payload.subspan(sizeof(std::uint64_t)), old_values);
  if (done) host_.reached(frame.key, Access::atomic, fetch);
  if (!done || old_values == nullptr) {
    if (old_values != nullptr) buffers_.give(old_values, bytes);
    post_control(peer, MessageKind::rma_done, frame.tag, done ? 0 : 1, 0);
    return Landed::good;
  }
  OutMessage& answer = *new_message(peer, MessageKind::atomic_answer);
  answer.own = true;
  answer.reported = true;
  answer.tag = frame.tag;
  const iovec piece = {old_values, bytes};
  log_message(answer, {&piece, 1}, bytes);
  answer.acknowledge_now = true;
  enqueue(answer);
  buffers_.give(old_values, bytes);
  return Landed::good;
}

}  // namespace holdfast::transport
