// From a packet to bytes in a receive's memory, or in an unexpected buffer.
#include <algorithm>
#include <cstring>

#include "core/arithmetic/checked.h"
#include "transport/engine/core.h"
#include "transport/engine/planted.h"

namespace holdfast::transport {
namespace {

using wire::DataFrame;
using wire::FrameType;
using wire::MessageKind;
using wire::Refusal;

}  // namespace

void Core::on_packet(std::uint32_t rail, std::span<const std::byte> packet) {
  if (closed_ || rail >= rails_.size()) return;
  wire::Reader reader;
  const Refusal refusal = reader.open(packet);
  if (refusal != Refusal::none) {
    count(refusal == Refusal::corrupt_header ? Count::corrupt_headers
          : refusal == Refusal::malformed    ? Count::malformed_packets
                                             : Count::foreign_packets)++;
    return;
  }
  const wire::PacketHeader& header = reader.header();
  if (header.key == 0) return on_greeting(reader, rail);
  Peer* from = known_peer(header.session);
  const bool known = from != nullptr && from->remote_identity != 0 &&
                     (header.key == from->key_in || is_planted(Planted::ignore_identities));
  if (!known || from->given_up) {
    ++count(Count::stale_packets);
    return on_stale(header.session);
  }
  if (!believed(*from, reader, rail)) return;
  ++from->paths[rail].arrived;
  FrameType type{};
  bool data = false;
  bool acknowledge_now = false;
  while (reader.next(type)) {
    if (type != FrameType::ack && type != FrameType::data && type != FrameType::bye) {
      ++count(Count::malformed_packets);
      return;
    }
    if (!from->established) establish(*from);
    Path& path = from->paths[rail];
    path.stamp = header.stamp;
    path.stamp_ns = now();
    path.stamp_fresh = true;
    if (type == FrameType::ack) {
      on_ack(*from, reader.ack());
    } else if (type == FrameType::data) {
      data = true;
      on_data(*from, reader.data(), reader.payload());
    } else if (type == FrameType::bye) {
      end_closed(*from);
      return;
    }
  }
  if (!data) return;
  from->ack_rail = rail;
  acknowledge_now = (header.flags & wire::PacketHeader::flag_acknowledge_now) != 0 ||
                    ++from->unacknowledged_packets >= options_.ack_packets || from->duplicates_in_a_row > 0;
  owe_ack(*from, acknowledge_now);
  pump(*from);
  if (acknowledge_now && from->ack_owed) send_owed_ack(*from);
}

void Core::on_data(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  const std::int32_t ahead = serial_distance(peer.in.base(), frame.vfrag);
  const std::uint64_t bit = std::uint64_t{1} << frame.index;
  if (ahead < 0 || (peer.in.covers(frame.vfrag) && (peer.in.get(frame.vfrag).mask & bit) != 0)) {
    ++count(Count::duplicates);
    ++peer.duplicates_in_a_row;
    if (!is_planted(Planted::accept_duplicates)) return;
  }
  if (ahead >= 0 && !peer.in.covers(frame.vfrag)) {
    ++count(Count::stray_fragments);
    return;
  }
  if (ahead >= 0) {
    const InVfrag before = peer.in.get(frame.vfrag);
    if (before.count != 0 && before.count != frame.count) {
      ++count(Count::stray_fragments);
      return;
    }
  }
  const Landed landed = land(peer, frame, payload);
  if (landed == Landed::corrupt) ++count(Count::corrupt_fragments);
  if (landed == Landed::refused) ++count(Count::stray_fragments);
  if (landed != Landed::good || ahead < 0) return;
  ++count(Count::fragments_received);
  peer.duplicates_in_a_row = 0;
  if (!peer.in.covers(frame.vfrag)) return;  // the session was reset by what this fragment led to
  InVfrag& vfrag = peer.in.at(frame.vfrag);
  vfrag.count = frame.count;
  vfrag.mask |= bit;
  if (!serial_less(frame.vfrag, peer.in_end)) peer.in_end = frame.vfrag + 1;
  while (peer.in.get(peer.in.base()).complete()) peer.in.advance();
}

Core::Landed Core::land(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  switch (frame.kind) {
    case MessageKind::eager:
      return land_eager(peer, frame, payload);
    case MessageKind::request_to_send:
      return land_request(peer, frame);
    case MessageKind::clear_to_send:
      on_clear_to_send(peer, frame);
      return Landed::good;
    case MessageKind::bulk:
      return land_bulk(peer, frame, payload);
    case MessageKind::rma_write:
      return land_write(peer, frame, payload);
    case MessageKind::rma_read:
      return land_read(peer, frame);
    case MessageKind::rma_read_answer:
    case MessageKind::atomic_answer:
      return land_answer(peer, frame, payload);
    case MessageKind::rma_done:
      return land_done(peer, frame);
    case MessageKind::atomic:
      return land_atomic(peer, frame, payload);
  }
  return Landed::refused;
}

bool Core::fits(const DataFrame& frame, std::uint64_t sum) {
  return sum == frame.checksum || is_planted(Planted::ignore_checksums);
}

bool Core::intact(const DataFrame& frame, std::span<const std::byte> payload) {
  return fits(frame, integrity::checksum(frame.algorithm, payload));
}

Core::Landed Core::land_eager(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  const bool whole = frame.bytes == frame.total;
  if (!whole) {
    if (InMessage* message = peer.open.find(frame.message)) return land_more(*message, frame, payload);
  }
  const std::int32_t ahead = serial_distance(peer.next_match, frame.order);
  if (!is_planted(Planted::accept_duplicates) &&
      (ahead < 0 || ahead >= static_cast<std::int32_t>(options_.message_window))) {
    return Landed::refused;
  }
  if (ahead == 0 || is_planted(Planted::ignore_order)) {
    const Envelope envelope = {peer.id, (frame.flags & DataFrame::flag_tagged) != 0, frame.tag};
    if (ReceiveOp* op = find_posted(envelope)) return land_first(peer, frame, payload, *op);
  }
  return land_unexpected(peer, frame, payload);
}

// The first fragment of a message that is next in order, and a receive for it.
Core::Landed Core::land_first(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload, ReceiveOp& op) {
  // Before anything is written: until the receive has taken this message another may take it, and be shorter.
  const bool good = intact(frame, payload);
  if (!good && !is_planted(Planted::write_before_check)) return Landed::corrupt;
  const Pieces target = target_for(op, frame.total);
  integrity::scatter_with_checksum(integrity::Checksum::none, target.span(), frame.offset, payload);
  if (!good) return Landed::corrupt;
  take_into(op, frame.total);
  ++peer.next_match;
  peer.arrived_bytes += frame.total;
  consumed(peer);
  InMessage& message = *new_in_message(peer, frame);
  message.op = &op;
  message.target = target;
  message.received = frame.bytes;
  if (message.complete()) {
    message_complete(message);
  } else {
    peer.open.insert(frame.message, &message);
    message.tabled = true;
  }
  admit_parked(peer);
  return Landed::good;
}

// The first fragment of a message without a receive, or whose turn has not come.
Core::Landed Core::land_unexpected(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  const auto held = arithmetic::checked_add(peer.held_bytes, frame.total);
  if (!held || *held > peer.granted_bytes) return Landed::refused;  // more than it was allowed to send
  if (peer.parked.find(frame.order) != nullptr) return Landed::refused;
  std::byte* buffer = nullptr;
  if (frame.total > 0) {
    buffer = buffers_.take(frame.total);
    if (!fits(frame, integrity::copy_with_checksum(frame.algorithm, buffer + frame.offset, payload))) {
      buffers_.give(buffer, frame.total);
      return Landed::corrupt;
    }
  } else if (!intact(frame, payload)) {
    return Landed::corrupt;
  }
  InMessage& message = *new_in_message(peer, frame);
  message.buffer = buffer;
  message.received = frame.bytes;
  peer.held_bytes += frame.total;
  peer.arrived_bytes += frame.total;
  if (!message.complete()) {
    peer.open.insert(frame.message, &message);
    message.tabled = true;
  } else {
    peer.incoming.remove(&message);
  }
  if (frame.order != peer.next_match && !is_planted(Planted::ignore_order)) {
    message.parked = true;
    peer.parked.insert(frame.order, &message);
    return Landed::good;
  }
  ++peer.next_match;
  admit(message);
  admit_parked(peer);
  return Landed::good;
}

Core::Landed Core::land_more(InMessage& message, const DataFrame& frame, std::span<const std::byte> payload) {
  if (message.kind != MessageKind::eager || frame.total != message.total || frame.order != message.order ||
      frame.bytes > message.total - message.received) {
    return Landed::refused;
  }
  const std::uint64_t sum =
      message.buffer != nullptr
          ? integrity::copy_with_checksum(frame.algorithm, message.buffer + frame.offset, payload)
          : integrity::scatter_with_checksum(frame.algorithm, message.target.span(), frame.offset, payload);
  if (!fits(frame, sum)) return Landed::corrupt;
  message.received += frame.bytes;
  if (message.complete()) message_complete(message);
  return Landed::good;
}

Core::Landed Core::land_request(Peer& peer, const DataFrame& frame) {
  const std::int32_t ahead = serial_distance(peer.next_match, frame.order);
  if (ahead < 0 || ahead >= static_cast<std::int32_t>(options_.message_window)) return Landed::refused;
  if (peer.parked.find(frame.order) != nullptr) return Landed::refused;
  InMessage& message = *new_in_message(peer, frame);
  message.announced = true;
  message.sender_handle = frame.address;
  if (ahead > 0) {
    message.parked = true;
    peer.parked.insert(frame.order, &message);
    return Landed::good;
  }
  ++peer.next_match;
  admit(message);
  admit_parked(peer);
  return Landed::good;
}

Core::Landed Core::land_bulk(Peer& peer, const DataFrame& frame, std::span<const std::byte> payload) {
  InMessage* message = in_messages_.find(frame.tag);
  if (message == nullptr || message->peer != &peer || !message->announced || message->op == nullptr ||
      frame.total != message->wanted || frame.bytes > message->wanted - message->received) {
    return Landed::refused;
  }
  if (!fits(frame, integrity::scatter_with_checksum(frame.algorithm, message->target.span(), frame.offset, payload))) {
    return Landed::corrupt;
  }
  message->received += frame.bytes;
  if (message->received == message->wanted) message_complete(*message);
  return Landed::good;
}

// Matched messages of orders before this may be sent: those that wait here are at most message_window.
std::uint32_t Core::message_limit(const Peer& peer) const {
  return peer.consumed + options_.message_window;
}

std::uint64_t Core::byte_limit(const Peer& peer) const {
  return peer.arrived_bytes + (peer.granted_bytes > peer.held_bytes ? peer.granted_bytes - peer.held_bytes : 0);
}

// A message has left the unexpected list, or passed it by. The peer hears of it at the latest when it may need it.
void Core::consumed(Peer& peer) {
  ++peer.consumed;
  if (serial_distance(peer.told_limit, message_limit(peer)) >=
      static_cast<std::int32_t>(options_.message_window / 4 + 1)) {
    owe_ack(peer, false);
  }
}

InMessage* Core::new_in_message(Peer& peer, const DataFrame& frame) {
  begin_waiting(peer);
  InMessage* message = in_messages_.take();
  message->peer = &peer;
  message->kind = frame.kind;
  message->tagged = (frame.flags & DataFrame::flag_tagged) != 0;
  message->has_data = (frame.flags & DataFrame::flag_data) != 0;
  message->number = frame.message;
  message->order = frame.order;
  message->tag = frame.tag;
  message->data = frame.data;
  message->total = message->wanted = frame.total;
  peer.incoming.push_back(message);
  return message;
}

void Core::drop_buffer(InMessage& message) {
  if (message.buffer == nullptr) return;
  Peer& peer = *message.peer;
  if (!is_planted(Planted::leak_buffer)) buffers_.give(message.buffer, message.total);
  message.buffer = nullptr;
  peer.held_bytes -= message.total;
  if (byte_limit(peer) - peer.told_bytes > peer.granted_bytes / 4) owe_ack(peer, false);
}

// The message leaves the engine. It is in no list but perhaps its peer's.
void Core::release_in_message(InMessage& message) {
  Peer& peer = *message.peer;
  drop_buffer(message);
  if (message.tabled) peer.open.erase(message.number);
  if (Peer::InList::linked(&message)) peer.incoming.remove(&message);
  in_messages_.give(&message);
}

}  // namespace holdfast::transport
