// From a request to fragments on rails.
#include <algorithm>

#include "transport/engine/core.h"
#include "transport/engine/planted.h"

namespace holdfast::transport {
namespace {

using wire::MessageKind;

bool is_control(MessageKind kind) {
  return kind == MessageKind::clear_to_send || kind == MessageKind::rma_done || kind == MessageKind::atomic_answer;
}

bool is_bulk(MessageKind kind) {
  return kind == MessageKind::bulk || kind == MessageKind::rma_write || kind == MessageKind::rma_read_answer;
}

}  // namespace

Posted Core::send(const SendRequest& request) {
  if (request.peer == any_peer || request.pieces.size() > most_pieces) return Posted::invalid;
  if (given_up(request.peer)) return Posted::lost;
  const std::size_t bytes = integrity::bytes_of(request.pieces);
  const bool logged = request.mode == SendMode::buffered;
  if (logged && bytes > options_.log_bytes) return Posted::invalid;
  if (logged && !log_has_room(bytes)) return Posted::again;
  Peer& to = *peer(request.peer);
  OutMessage& message = *new_message(to, MessageKind::eager);
  message.silent = request.silent;
  message.tagged = request.tagged;
  message.has_data = request.has_data;
  message.tag = message.user_tag = request.tag;
  message.data = request.data;
  message.context = request.context;
  message.total = bytes;
  message.acknowledge_now = !logged;
  ++count(Count::messages_sent);
  count(Count::bytes_sent) += bytes;
  if (logged) {
    log_message(message, request.pieces, bytes);
    report(message, Outcome::ok);
  } else {
    message.pieces.set(request.pieces);
  }
  enqueue(message);
  pump(to);
  return Posted::accepted;
}

OutMessage* Core::new_message(Peer& peer, MessageKind kind) {
  begin_waiting(peer);
  OutMessage* message = out_messages_.take();
  message->peer = &peer;
  message->kind = kind;
  peer.messages.push_back(message);
  return message;
}

// A message costs what the engine keeps of it too, so that empty ones have an end as well. One alone always has room.
bool Core::log_has_room(std::size_t bytes) {
  const std::size_t kept = log_bytes_ + logged_messages_ * message_cost;
  if (kept == 0 || kept + bytes + message_cost <= options_.log_bytes) return true;
  ++count(Count::back_pressure);
  return false;
}

// Copies the bytes, summing each fragment of the first VFRAG on the way, which for an eager message is all of it.
void Core::log_message(OutMessage& message, std::span<const iovec> pieces, std::size_t bytes) {
  message.total = bytes;
  message.logged = true;
  ++logged_messages_;
  if (bytes == 0) return;
  message.log = buffers_.take(bytes);
  message.log_bytes = bytes;
  log_bytes_ += bytes;
  message.pieces.set(message.log, bytes);
  Vfrag& vfrag = *make_vfrag(message);
  std::size_t at = 0;
  for (std::size_t i = 0; i < vfrag.count; ++i) {
    Fragment& fragment = vfrag.fragment(i);
    fragment.algorithm = rails_.front().checksum;
    fragment.checksum =
        integrity::gather_with_checksum(fragment.algorithm, pieces, at, fragment.bytes, message.log + at);
    fragment.summed = true;
    at += fragment.bytes;
  }
  if (at < bytes) {
    integrity::gather_with_checksum(integrity::Checksum::none, pieces, at, bytes - at, message.log + at);
  }
}

// A message of the protocol's own, without payload.
void Core::post_control(Peer& peer, MessageKind kind, std::uint64_t tag, std::uint64_t data, std::uint64_t address) {
  OutMessage& message = *new_message(peer, kind);
  message.own = true;
  message.reported = true;
  message.tag = tag;
  message.data = data;
  message.address = address;
  message.extended = address != 0;
  enqueue(message);
}

void Core::enqueue(OutMessage& message) {
  Peer& peer = *message.peer;
  if (!waits_for_acknowledgement(peer)) peer.progress_ns = now();
  if (is_control(message.kind)) {
    peer.control.push_back(&message);
  } else if (is_bulk(message.kind)) {
    peer.bulk.push_back(&message);
  } else {
    peer.ordered.push_back(&message);
  }
}

// The message's next VFRAG, up to 64 fragments of what was not scheduled yet.
Vfrag* Core::make_vfrag(OutMessage& message) {
  Vfrag* vfrag = vfrags_.take();
  const std::uint64_t rest = message.total - message.scheduled_bytes;
  const std::uint64_t fragments = std::max<std::uint64_t>(1, (rest + fragment_bytes - 1) / fragment_bytes);
  vfrag->message = &message;
  vfrag->offset = message.scheduled_bytes;
  vfrag->count = static_cast<std::uint8_t>(std::min<std::uint64_t>(fragments, wire::fragments_per_vfrag));
  if (vfrag->count > 1) vfrag->block = blocks_.take();
  std::uint64_t left = rest;
  for (std::size_t i = 0; i < vfrag->count; ++i) {
    Fragment& fragment = vfrag->fragment(i);
    fragment = Fragment();
    fragment.vfrag = vfrag;
    fragment.index = static_cast<std::uint8_t>(i);
    fragment.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, fragment_bytes));
    left -= fragment.bytes;
  }
  message.scheduled_bytes += rest - left;
  message.current = vfrag;
  ++message.made;
  ++message.vfrags;
  ++message.open_vfrags;
  return vfrag;
}

void Core::release_vfrag(Vfrag& vfrag) {
  OutMessage& message = *vfrag.message;
  if (vfrag.block != nullptr) blocks_.give(vfrag.block);
  vfrags_.give(&vfrag);
  --message.vfrags;
}

// Takes back the first VFRAG of a message of which nothing was sent.
void Core::unmake_vfrag(OutMessage& message) {
  if (message.current == nullptr) return;
  --message.made;
  --message.open_vfrags;
  release_vfrag(*message.current);
  message.current = nullptr;
  message.scheduled_bytes = 0;
}

// Puts on rails what may go now: first what has to go again, then answers, then messages, with a turn for bulk data
// after every fourth.
void Core::pump(Peer& peer) {
  if (closed_ || peer.spoiled || peer.given_up) return;
  if (!peer.established) {
    if (peer.next_call_ns == 0 && !peer.messages.empty()) call(peer);
    return;
  }
  for (;;) {
    if (peer.ready.empty() && peer.control.empty() && peer.ordered.empty() && peer.bulk.empty()) return;
    const int rail = choose_path(peer);
    if (rail < 0) return;
    Fragment* fragment = take_fragment(peer);
    if (fragment == nullptr) return;
    if (!unchanged(*fragment, static_cast<std::uint32_t>(rail))) {
      ++count(Count::corrupt_sources);
      peer.spoiled = true;  // the caller may be in the middle of this session: the next timer ends it
      note(peer, now());
    }
    Load load;
    load.add(*fragment);
    if (!peer.spoiled) gather(peer, load, static_cast<std::uint32_t>(rail));
    if (peer.spoiled || !transmit(peer, load, static_cast<std::uint32_t>(rail))) {
      while (load.count > 0) put_back(peer, *load.fragments[--load.count]);
      if (peer.spoiled) return;
    }
  }
}

// It is the next to be taken.
void Core::put_back(Peer& peer, Fragment& fragment) {
  fragment.state = Fragment::State::ready;
  peer.ready.push_front(&fragment);
}

Fragment* Core::take_fragment(Peer& peer) {
  if (Fragment* fragment = peer.ready.pop_front()) return fragment;
  if (Fragment* fragment = take_from(peer, peer.control, 0)) return fragment;
  if (peer.turns >= 4) {
    peer.turns = 0;
    if (Fragment* fragment = take_from(peer, peer.bulk, 32)) return fragment;
  }
  if (Fragment* fragment = take_from(peer, peer.ordered, 16)) {
    ++peer.turns;
    return fragment;
  }
  return take_from(peer, peer.bulk, 32);
}

// `spare_vfrags` of the window are left to queues of higher rank.
Fragment* Core::take_from(Peer& peer, Peer::OutQueue& queue, std::uint32_t spare_vfrags) {
  OutMessage* message = queue.first();
  if (message == nullptr) return nullptr;
  if (message->current == nullptr || !message->current->numbered) {
    if (peer.next_vfrag - peer.out.base() + spare_vfrags >= peer.remote_window) return nullptr;
    if (message->stage == OutMessage::Stage::queued && !start(peer, *message)) return nullptr;
    message = queue.first();  // a long one may have become a request to send
    if (message->current == nullptr) make_vfrag(*message);
    if (!waits_for_acknowledgement(peer)) peer.progress_ns = now();
    Vfrag& vfrag = *message->current;
    vfrag.number = peer.next_vfrag++;
    vfrag.numbered = true;
    peer.out.at(vfrag.number) = &vfrag;
  }
  Vfrag& vfrag = *message->current;
  Fragment& fragment = vfrag.fragment(vfrag.scheduled++);
  if (vfrag.scheduled == vfrag.count) {
    message->current = nullptr;
    if (message->all_scheduled()) queue.remove(message);
  }
  return &fragment;
}

// Whether the message may begin. One that is matched takes its place in the order; a long one, or one for which the
// receiver has no room, becomes a request to send.
bool Core::start(Peer& peer, OutMessage& message) {
  if (message.kind == MessageKind::eager) {
    if (!serial_less(peer.next_order, peer.message_limit)) return false;
    if (message.total > options_.eager_bytes || peer.eager_bytes + message.total > peer.byte_limit) {
      ask_to_send(peer, message);
      return true;
    }
    message.order = peer.next_order++;
    peer.eager_bytes += message.total;
  }
  message.number = peer.next_message++;
  message.stage = OutMessage::Stage::sending;
  return true;
}

// Its request takes the message's place at the head of the queue.
void Core::ask_to_send(Peer& peer, OutMessage& message) {
  peer.ordered.remove(&message);
  message.stage = OutMessage::Stage::asking;
  if (!message.logged) asking_.push_back(&message);
  OutMessage& request = *new_message(peer, MessageKind::request_to_send);
  request.own = true;
  request.reported = true;
  request.tagged = message.tagged;
  request.has_data = message.has_data;
  request.tag = message.tag;
  request.data = message.data;
  request.extended = true;
  request.address = Pool<OutMessage>::handle(&message);
  request.announced = message.total;
  request.acknowledge_now = false;
  request.order = peer.next_order++;
  request.number = peer.next_message++;
  request.stage = OutMessage::Stage::sending;
  peer.ordered.push_front(&request);
}

void Core::on_clear_to_send(Peer& peer, const wire::DataFrame& frame) {
  OutMessage* message = out_messages_.find(frame.tag);
  if (message == nullptr || message->peer != &peer || message->stage != OutMessage::Stage::asking ||
      message->abandoned || message->acknowledged) {
    ++count(Count::stray_fragments);
    return;
  }
  stop_summing(*message);
  if (frame.data == 0) {  // the receiver threw it away
    unmake_vfrag(*message);
    message->acknowledged = true;
    try_release(*message);
    return;
  }
  message->kind = MessageKind::bulk;
  message->tag = frame.data;
  message->has_data = false;
  message->acknowledge_now = true;
  if (frame.address < message->total) {  // the receive is shorter
    unmake_vfrag(*message);
    message->total = frame.address;
  }
  message->number = peer.next_message++;
  message->stage = OutMessage::Stage::sending;
  enqueue(*message);
}

// Of the next packet to the peer on the rail. A number is used once, whatever becomes of its packet.
wire::PacketHeader Core::packet_header(Peer& peer, std::uint32_t rail) {
  return {.rail = static_cast<std::uint8_t>(rail),
          .session = peer.remote_session,
          .key = peer.key_out,
          .stamp = wire::to_wire_time(now()),
          .number = ++peer.paths[rail].packets,
          .tag = {}};
}

wire::DataFrame Core::data_frame(const Fragment& fragment) const {
  const Vfrag& vfrag = *fragment.vfrag;
  const OutMessage& message = *vfrag.message;
  const std::uint64_t offset = vfrag.offset + std::uint64_t{fragment.index} * fragment_bytes;
  wire::DataFrame frame;
  frame.kind = message.kind;
  frame.index = fragment.index;
  frame.count = vfrag.count;
  frame.algorithm = fragment.algorithm;
  frame.flags = static_cast<std::uint8_t>((message.tagged ? wire::DataFrame::flag_tagged : 0) |
                                          (message.has_data ? wire::DataFrame::flag_data : 0) |
                                          (message.extended ? wire::DataFrame::flag_extended : 0));
  frame.vfrag = vfrag.number;
  frame.message = message.number;
  frame.order = message.order;
  frame.bytes = fragment.bytes;
  frame.offset = offset;
  frame.total = message.kind == MessageKind::request_to_send ? message.announced : message.total;
  frame.tag = message.tag;
  frame.data = message.data;
  frame.checksum = fragment.checksum;
  frame.address = message.address;
  frame.key = message.key;
  return frame;
}

// The fragment's part of the message's pieces. Gives how many pieces there are.
std::size_t Core::add_payload(const Fragment& fragment, std::span<iovec> list) const {
  std::size_t offset = fragment.vfrag->offset + std::size_t{fragment.index} * fragment_bytes;
  std::size_t left = fragment.bytes;
  std::size_t used = 0;
  for (const iovec& piece : fragment.vfrag->message->pieces.span()) {
    if (left == 0) break;
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    const std::size_t here = std::min(piece.iov_len - offset, left);
    list[used++] = {static_cast<std::byte*>(piece.iov_base) + offset, here};
    left -= here;
    offset = 0;
  }
  return used;
}

// Whether the window was the limit of late, and has room for fewer packets than the peer counts before it acknowledges.
// The peer would wait for more, until its delay is over, whenever the packet that fills the window is lost; so each
// asks for its acknowledgement.
bool Core::is_narrow(const Path& path) const {
  const std::uint64_t counted = options_.ack_packets;
  return path.window.bytes() < counted * fragment_bytes &&
         path.window.limited(path.next_order - std::min(path.next_order, counted));
}

// Puts fragments on a rail, in one packet, with what is owed of acknowledgements. False when the rail would not have
// it.
bool Core::transmit(Peer& peer, const Load& load, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  Fragment& fragment = *load.fragments[0];
  OutMessage& message = *fragment.vfrag->message;
  for (Fragment* each : load.span()) make_sum(*each, rails_[rail].checksum);
  const bool full = path.flying_bytes + 2 * fragment_bytes > path.window.bytes();
  const bool again = std::ranges::any_of(load.span(), [](const Fragment* each) { return each->transmissions > 0; });
  wire::PacketHeader header = packet_header(peer, rail);
  const bool last = peer.ready.empty() && std::ranges::any_of(load.span(), [](const Fragment* each) {
                      const OutMessage& of = *each->vfrag->message;
                      return of.acknowledge_now && of.all_scheduled();
                    });
  if (full || again || last || is_narrow(path)) header.flags |= wire::PacketHeader::flag_acknowledge_now;

  OutPacket& packet = *packets_.take();
  wire::Writer writer(packet.headers, header);
  bool with_ack = peer.ack_owed;
  if (with_ack) {
    wire::AckFrame ack;
    fill_ack(peer, rail, ack);
    const std::size_t bytes = wire::packet_header_bytes + wire::ack_frame_bytes +
                              ack.partial_count * wire::ack_partial_bytes + load.frame_bytes + load.data_bytes;
    const std::size_t most = rails_[rail].traits.most_packet_bytes;
    with_ack = bytes <= (load.count == 1 ? most : std::min(most, packet.headers.size()));
    if (with_ack) writer.add(ack);  // otherwise it goes alone, when it is due
  }
  for (const Fragment* each : load.span()) writer.add(data_frame(*each));
  std::array<iovec, most_pieces + 1> list;
  std::size_t pieces = 2;
  if (load.count == 1) {
    pieces = 1 + add_payload(fragment, std::span(list).subspan(1));
  } else {
    list[1] = copy_behind(packet, writer.header_bytes(), load);
  }
  const std::span<const std::byte> headers =
      seal(peer, writer, header, std::span(list).subspan(1, pieces - 1), load.data_bytes);
  list[0] = {packet.headers.data(), headers.size()};
  if (load.count > 1) {  // they stand behind the headers
    list[0].iov_len += load.data_bytes;
    pieces = 1;
  }

  const Put put = host_.put(rail, peer.id, std::span(list).first(pieces), Pool<OutPacket>::handle(&packet));
  if (put == Put::busy || put == Put::failed) {
    packets_.give(&packet);
    if (put == Put::failed) {
      take_out(peer, rail);
    } else {
      ++count(Count::packets_refused_by_rail);
      rails_[rail].busy = true;
      note(peer, now() + 100'000);
      if (!WaitingList::linked(&peer)) waiting_.push_back(&peer);
    }
    return false;
  }
  if (put == Put::pending && load.count == 1) {
    packet.fragment = &fragment;
    ++fragment.vfrag->pending;
    ++message.pending_puts;
    begin_put(peer, rail, packet);
  } else if (put == Put::pending || put == Put::taken) {
    begin_put(peer, rail, packet);
  } else {
    packets_.give(&packet);
  }
  if (with_ack) {
    settle_ack(peer);
    ++count(Count::acks_piggybacked);
  }
  const std::uint64_t order = path.next_order++;
  if (load.count > 1) count(Count::fragments_gathered) += load.count;
  for (Fragment* each : load.span()) {
    ++count(each->transmissions == 0 ? Count::fragments_sent : Count::fragments_retransmitted);
    each->order = order;
    each->packet_bytes = static_cast<std::uint32_t>(load.data_bytes);
    flies(peer, *each, rail);
  }
  return true;
}

void Core::flies(Peer& peer, Fragment& fragment, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  fragment.mark = path.rate.mark(now(), path.flight.empty());
  fragment.state = Fragment::State::flying;
  if (fragment.path != rail) fragment.losses = 0;
  fragment.path = static_cast<std::uint8_t>(rail);
  fragment.sent_ns = now();
  fragment.stays = false;
  ++fragment.transmissions;
  path.flight.push_back(&fragment);
  path.flying_bytes += fragment.bytes;
  path.window.on_sent(path.flying_bytes, path.next_order);
  if (path.silent_since_ns == 0) {
    path.silent_since_ns = now();
    note(peer, now() + 3 * options_.tick_ns);
  }
  Vfrag& vfrag = *fragment.vfrag;
  vfrag.ack_deadline_ns = now() + timeout_ns(peer, path);
  note(peer, vfrag.ack_deadline_ns);
}

// Takes a flying fragment from its path, to be put on a rail again.
void Core::make_ready(Peer& peer, Fragment& fragment) {
  Path& path = peer.paths[fragment.path];
  path.flight.remove(&fragment);
  path.flying_bytes -= fragment.bytes;
  if (is_planted(Planted::forget_retransmission) && fragment.bytes % 7 == 3) {
    fragment.state = Fragment::State::waiting;
    return;
  }
  fragment.state = Fragment::State::ready;
  peer.ready.push_back(&fragment);
}

void Core::message_acknowledged(OutMessage& message) {
  message.acknowledged = true;
  if (message.kind == MessageKind::rma_read_answer) host_.reached(message.key, Access::read, false);
  if (message.awaits_answer() && !message.answered) {
    message.stage = OutMessage::Stage::awaiting;
    return;
  }
  try_release(message);
}

void Core::report(OutMessage& message, Outcome outcome) {
  if (message.reported) return;
  message.reported = true;
  if (message.silent && outcome == Outcome::ok) return;
  Completion completion;
  completion.kind = message.completion;
  completion.outcome = outcome;
  completion.peer = message.peer->id;
  completion.context = message.context;
  completion.tagged = message.tagged;
  completion.tag = message.user_tag;
  completion.bytes = completion.message_bytes =
      message.completion == Completion::Kind::send ? message.total : message.results.bytes;
  completion.released = true;
  tell(completion);
}

// Ends a message of which all is acknowledged (and answered) or whose session is over, when no put needs it.
void Core::try_release(OutMessage& message) {
  if (message.pending_puts > 0 || message.vfrags > 0) return;
  if (!message.acknowledged && !message.abandoned) return;
  if (message.awaits_answer() && !message.answered && !message.abandoned) return;
  report(message, message.outcome);
  if (message.log != nullptr && !is_planted(Planted::leak_buffer)) {
    buffers_.give(message.log, message.log_bytes);
    log_bytes_ -= message.log_bytes;
  }
  if (message.logged) --logged_messages_;
  message.peer->messages.remove(&message);
  out_messages_.give(&message);
}

// The rail will say when the packet has left: the local completion timer runs while it owes that of any.
void Core::begin_put(Peer& peer, std::uint32_t rail, OutPacket& packet) {
  packet.peer = peer.id;
  packet.rail = rail;
  ++pending_puts;
  Path& path = peer.paths[rail];
  if (path.unfinished++ > 0) return;
  path.local_deadline_ns = now() + options_.local_timeout_ns;
  note(peer, path.local_deadline_ns);
}

void Core::on_put_done(std::uint64_t token, bool ok) {
  OutPacket* packet = packets_.find(token);
  if (packet == nullptr) return;
  Peer& to = *peers_[packet->peer];
  Fragment* fragment = packet->fragment;
  const std::uint32_t rail = packet->rail;
  packets_.give(packet);
  --pending_puts;
  Path& path = to.paths[rail];
  path.local_deadline_ns = --path.unfinished > 0 ? now() + options_.local_timeout_ns : 0;
  path.overdue_ns = 0;
  path.overdue_rounds.stop();
  if (fragment != nullptr) {
    Vfrag& vfrag = *fragment->vfrag;
    OutMessage& message = *vfrag.message;
    --vfrag.pending;
    --message.pending_puts;
    if (vfrag.done && vfrag.pending == 0) release_vfrag(vfrag);
    try_release(message);
  }
  // Before the two have met it says little: the peer may not listen yet, or two connections cross. HELLOs go again.
  if (!ok && !closed_ && to.established) {
    take_out(to, rail);
    pump(to);
  }
}

bool Core::idle() const {
  for (const Peer* peer : spoken_to_) {
    if (!peer->messages.empty()) return false;
  }
  return true;
}

}  // namespace holdfast::transport
