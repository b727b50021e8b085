// Sessions: how two endpoints find out about each other, and what happens when one of them is another than before.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/engine/core.h"

namespace holdfast::transport {
namespace {

constexpr std::int64_t most_notice_gaps =
    8;  ///< of probe_interval, between two times that a peer is told it was given up

}  // namespace

Core::Core(const Options& options, std::span<const RailTraits> rails, Host& host, std::span<const std::byte> name,
           std::uint64_t epoch, std::int64_t now_ns)
    : clock(now_ns),
      options_(options),
      host_(host),
      name_(name.begin(), name.end()),
      epoch_(std::max<std::uint64_t>(epoch, 1)) {
  std::size_t most = options.fragment_bytes;
  for (const RailTraits& traits : rails) {
    rails_.push_back({traits, traits.checksum.value_or(options.checksum)});
    most = std::min(most, traits.most_packet_bytes - wire::data_header_bytes);
  }
  fragment_bytes = most;
  options_.eager_bytes = std::min<std::uint64_t>(options_.eager_bytes, wire::fragments_per_vfrag * fragment_bytes);
  options_.vfrag_window = std::bit_floor(std::max(options_.vfrag_window, 64U));
}

Peer* Core::known_peer(PeerId id) const {
  return id < peers_.size() ? peers_[id].get() : nullptr;
}

Peer* Core::peer(PeerId id) {
  if (id >= peers_.size()) peers_.resize(std::size_t{id} + 1);
  if (peers_[id] == nullptr) {
    peers_[id] = std::make_unique<Peer>(id, options_.vfrag_window, epoch_);
    Peer& made = *peers_[id];
    made.paths.reserve(rails_.size());
    for (const RailRecord& rail : rails_) {
      made.paths.emplace_back(fragment_bytes, options_.window_bytes, rail.traits.bytes_per_second);
    }
    made.granted_bytes = std::min(options_.eager_credit_bytes, options_.unexpected_bytes - committed_bytes_);
    committed_bytes_ += made.granted_bytes;
    made.progress_ns = made.sign_ns = now();
    spoken_to_.push_back(&made);
  }
  return peers_[id].get();
}

void Core::rename(std::span<const std::byte> name) {
  name_.assign(name.begin(), name.end());
  for (Peer* each : spoken_to_) {
    if (!each->established) continue;
    for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) say_hello(*each, rail, false, 0);
  }
}

// Says hello on every rail, again and again until the peer answers.
void Core::call(Peer& peer) {
  if (peer.next_call_ns == 0) {
    peer.call_gap_ns = options_.tick_ns;
    peer.sign_ns = now();
    if (!waits_for_acknowledgement(peer)) peer.progress_ns = now();
  } else {
    peer.call_gap_ns = std::min(2 * peer.call_gap_ns, options_.probe_interval_ns);
  }
  for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) say_hello(peer, rail, false, 0);
  peer.next_call_ns = now() + peer.call_gap_ns;
  note(peer, peer.next_call_ns);
}

void Core::say_hello(Peer& peer, std::uint32_t rail, bool answer, std::uint32_t echo_stamp) {
  OutPacket& packet = *packets_.take();
  wire::PacketHeader header = packet_header(peer, rail);
  header.key = 0;
  wire::Writer writer(packet.headers, header);
  wire::HelloFrame hello;
  hello.answer = answer;
  hello.over = peer.given_up.has_value();
  hello.session = peer.id;
  hello.epoch = peer.local_epoch;
  hello.known_epoch = peer.remote_epoch;
  hello.echo_stamp = echo_stamp;
  hello.vfrag_window = options_.vfrag_window;
  hello.message_limit = message_limit(peer);
  hello.byte_limit = byte_limit(peer);
  hello.ack_delay = wire::to_wire_time(options_.ack_delay_ns);
  hello.name = name_;
  writer.add(hello);
  const std::span<const std::byte> headers = writer.finish(0);
  const iovec list = {packet.headers.data(), headers.size()};
  const Put put = host_.put(rail, peer.id, {&list, 1}, Pool<OutPacket>::handle(&packet));
  if (!answer) ++count(Count::probes_sent);
  Path& path = peer.paths[rail];
  (answer ? path.answer_owed : path.hello_owed) = put == Put::busy;
  if (put == Put::busy) {
    path.answer_stamp = answer ? echo_stamp : path.answer_stamp;
    rails_[rail].control_owed = true;
    note(peer, now() + 100'000);
  }
  if (put == Put::pending) {
    packet.peer = peer.id;
    packet.rail = rail;
    ++pending_puts;
    return;
  }
  packets_.give(&packet);
  if (put == Put::failed) take_out(peer, rail);
}

void Core::on_hello(const wire::PacketHeader& header, const wire::HelloFrame& frame, std::uint32_t rail) {
  const PeerId id = host_.peer_named(frame.name, rail);
  if (id == any_peer || frame.epoch == 0) {
    ++count(Count::stray_fragments);
    return;
  }
  Peer& from = *peer(id);
  if (from.given_up) return on_hello_of_lost(from, header, frame, rail);
  if (frame.epoch == from.closed_epoch && sabotage != Engine::Sabotage::ignore_epochs) {
    ++count(Count::stale_packets);  // of a process that has closed, and cannot hear an answer
    return;
  }
  if (frame.epoch < from.remote_epoch && sabotage != Engine::Sabotage::ignore_epochs) {
    ++count(Count::stale_packets);
    // One that came back with its clock set back learns from the answer which epoch it must exceed.
    if (!frame.answer) say_hello(from, rail, true, header.stamp);
    return;
  }
  learn_epochs(from, frame);
  if (frame.over && !from.given_up) give_up(from, Outcome::restarted);
  if (from.given_up) return on_hello_of_lost(from, header, frame, rail);
  const bool mutual = frame.known_epoch == from.local_epoch;
  if (mutual || (frame.known_epoch == 0 && !from.established)) {
    from.remote_session = frame.session;
    from.remote_window = std::clamp(frame.vfrag_window, 64U, options_.vfrag_window);
    from.remote_ack_delay_ns = wire::from_wire_time(frame.ack_delay);
    if (serial_less(from.message_limit, frame.message_limit)) from.message_limit = frame.message_limit;
    from.byte_limit = std::max(from.byte_limit, frame.byte_limit);
    establish(from);
  }
  if (frame.answer && mutual) {
    from.sign_ns = now();
    on_echo(from, rail, frame.echo_stamp, 0);
  } else if (!frame.answer) {
    say_hello(from, rail, true, header.stamp);
    sign_of_life(from, rail, false);
  }
  pump(from);
}

// Takes from a HELLO who the peer is now, and who it thinks that this side is.
void Core::learn_epochs(Peer& peer, const wire::HelloFrame& frame) {
  if (frame.epoch > peer.remote_epoch) {
    if (peer.remote_epoch != 0) {
      ++count(Count::peers_restarted);
      // What was acknowledged may not have been received: with the process it is lost, unless that had closed.
      if (peer.in_contact) give_up(peer, Outcome::restarted);
    }
    peer.remote_epoch = frame.epoch;
    peer.remote_session = frame.session;
  }
  if (frame.known_epoch > peer.local_epoch) {  // it remembers an earlier process of this name as a later one
    if (peer.established) give_up(peer, Outcome::restarted);
    // By more than one, and not always by the same: what was learned may be of long ago, and a process before this one
    // may have taken its next epoch from the same.
    peer.local_epoch = frame.known_epoch + 1 + (epoch_ & 0xFFFFF);
    peer.established = false;
    if (!peer.given_up) call(peer);
  }
  peer.key = wire::session_key(peer.local_epoch, peer.remote_epoch);
}

void Core::establish(Peer& peer) {
  if (peer.established || peer.given_up) return;
  peer.established = peer.in_contact = true;
  peer.next_call_ns = 0;
  peer.progress_ns = peer.sign_ns = now();
}

// A packet of a session that is over: its sender is told who is here now, once a tick.
void Core::on_stale(std::uint32_t session) {
  Peer* to = known_peer(session);
  if (to == nullptr || to->remote_epoch == 0 || now() - to->hinted_ns < options_.tick_ns) return;
  to->hinted_ns = now();
  say_hello(*to, ack_path(*to) < 0 ? 0 : static_cast<std::uint32_t>(ack_path(*to)), false, 0);
}

// Whether the end of the session costs nothing: all that was sent has arrived, and nothing came in part.
bool Core::leaves_nothing(const Peer& peer) {
  for (const OutMessage* each = peer.messages.first(); each != nullptr; each = Peer::OutList::next(each)) {
    const bool over = each->acknowledged && (each->answered || !each->awaits_answer());
    if (!over && !each->own && !each->abandoned) return false;
  }
  return peer.incoming.empty() && peer.parked.size() == 0;
}

// The peer closes. It has received all that it will.
void Core::end_closed(Peer& peer) {
  if (!leaves_nothing(peer)) return give_up(peer, Outcome::closed);
  new_epoch(peer);  // what is still under way of this session must not be taken for the next one's
  reset(peer, Outcome::closed);
  peer.in_contact = false;
  peer.closed_epoch = peer.remote_epoch;
}

// Nothing goes to the peer any more, and nothing comes from it: a message after one that is lost would be taken for it.
// All operations that wait for the peer fail, later ones are refused, and the peer hears of it when it can.
void Core::give_up(Peer& peer, Outcome outcome) {
  new_epoch(peer);  // nothing of the session that is under way is taken any more
  if (sabotage != Engine::Sabotage::forget_lost_peers) peer.given_up = outcome;
  peer.spoiled = false;
  ++count(Count::peers_given_up);
  reset(peer, outcome);
  fail_directed(peer, outcome);
  Completion completion;
  completion.kind = Completion::Kind::peer_lost;
  completion.outcome = outcome;
  completion.peer = peer.id;
  completion.message_bytes = std::exchange(peer.lost_messages, 0);
  tell(completion);
  peer.notice_gap_ns = options_.tick_ns;
  peer.next_notice_ns = now();
  note(peer, peer.next_notice_ns);
}

// Tells the peer, again and again until it says that it knows. Gives when the next time is.
std::int64_t Core::serve_lost(Peer& peer) {
  if (peer.knows_of_it) return INT64_MAX;
  if (peer.next_notice_ns <= now()) {
    for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) say_hello(peer, rail, false, 0);
    peer.next_notice_ns = now() + peer.notice_gap_ns;
    peer.notice_gap_ns = std::min(2 * peer.notice_gap_ns, most_notice_gaps * options_.probe_interval_ns);
  }
  return peer.next_notice_ns;
}

void Core::on_hello_of_lost(Peer& peer, const wire::PacketHeader& header, const wire::HelloFrame& frame,
                            std::uint32_t rail) {
  if (frame.epoch > peer.remote_epoch) {
    peer.remote_epoch = frame.epoch;
    peer.remote_session = frame.session;
    peer.key = wire::session_key(peer.local_epoch, peer.remote_epoch);
  }
  if (frame.epoch == peer.remote_epoch) peer.knows_of_it = frame.over;
  if (!frame.answer) say_hello(peer, rail, true, header.stamp);
}

std::optional<Outcome> Core::given_up(PeerId id) const {
  const Peer* known = known_peer(id);
  return known == nullptr ? std::nullopt : known->given_up;
}

// The session is over: everything on its way fails, and the next message, if there may be one, begins another.
void Core::reset(Peer& peer, Outcome outcome) {
  peer.established = false;
  peer.spoiled = false;
  peer.next_call_ns = 0;
  peer.ack_owed = false;
  peer.ack_refused = false;
  peer.ack_deadline_ns = 0;
  peer.unacknowledged_packets = 0;
  peer.duplicates_in_a_row = 0;
  reset_sending(peer, outcome);
  reset_receiving(peer, outcome);
  if (peer.lost_messages > 0 && !peer.given_up) {
    Completion completion;
    completion.kind = Completion::Kind::lost;
    completion.outcome = outcome;
    completion.peer = peer.id;
    completion.message_bytes = peer.lost_messages;
    peer.lost_messages = 0;
    tell(completion);
  }
}

void Core::reset_sending(Peer& peer, Outcome outcome) {
  for (Path& path : peer.paths) {
    while (Fragment* fragment = path.flight.first()) {
      path.flight.remove(fragment);
      fragment->state = Fragment::State::waiting;
    }
    path.flying_bytes = 0;
    path.silent_since_ns = 0;
    path.timeouts = 0;
    path.hello_owed = path.answer_owed = false;
  }
  while (peer.ready.pop_front() != nullptr) {
  }
  while (peer.control.pop_front() != nullptr) {
  }
  while (peer.ordered.pop_front() != nullptr) {
  }
  while (peer.bulk.pop_front() != nullptr) {
  }
  for (; peer.out.base() != peer.next_vfrag; peer.out.advance()) {
    Vfrag* vfrag = peer.out.get(peer.out.base());
    if (vfrag == nullptr) continue;
    if (vfrag->message->current == vfrag) vfrag->message->current = nullptr;
    vfrag->done = true;
    if (vfrag->pending == 0) release_vfrag(*vfrag);
  }
  peer.out.clear();
  peer.next_vfrag = 0;
  peer.next_message = 0;
  peer.next_order = 0;
  peer.message_limit = 0;
  peer.byte_limit = 0;
  peer.eager_bytes = 0;
  peer.told_all = true;
  for (OutMessage* message = peer.messages.first(); message != nullptr;) {
    OutMessage* next = Peer::OutList::next(message);
    if (message->abandoned) {
      message = next;
      continue;
    }
    unmake_vfrag(*message);
    const bool buffered = message->reported && !message->own && !message->acknowledged;
    if (buffered) {
      ++count(Count::messages_lost);
      ++peer.lost_messages;
    }
    message->abandoned = true;
    report(*message, outcome);
    try_release(*message);
    message = next;
  }
}

void Core::reset_receiving(Peer& peer, Outcome outcome) {
  drop_after_gap(peer);
  while (InMessage* message = peer.incoming.first()) {
    if (message->parked) peer.parked.erase(message->order);
    if (UnexpectedList::linked(message)) unexpected_[message->tagged].remove(message);
    if (message->op != nullptr) finish_receive(*message->op, *message, outcome);
    release_in_message(*message);
  }
  // Those that are whole and wait for others before them: those will not come.
  for (std::uint32_t order = peer.next_match; peer.parked.size() > 0; ++order) {
    if (InMessage* message = peer.parked.find(order)) {
      peer.parked.erase(order);
      release_in_message(*message);
    }
  }
  peer.in.clear();
  peer.in_end = 0;
  peer.open.clear();
  peer.next_match = 0;
  peer.consumed = 0;
  peer.told_limit = 0;
  peer.told_bytes = 0;
  peer.arrived_bytes = 0;
  for (Path& path : peer.paths) path.stamp_fresh = false;
}

void Core::new_epoch(Peer& peer) {
  ++peer.local_epoch;
  peer.key = wire::session_key(peer.local_epoch, peer.remote_epoch);
}

// No rail has reached the peer for too long.
void Core::end_unreachable(Peer& peer) {
  ++count(Count::peers_unreachable);
  give_up(peer, Outcome::unreachable);
  if (peer.without_rail_ns != 0) {
    count(Count::time_without_rail_ns) += static_cast<std::uint64_t>(now() - peer.without_rail_ns);
    peer.without_rail_ns = now();
  }
}

void Core::say_bye(Peer& peer) {
  if (!peer.established) return;
  for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) send_ack(peer, rail, true);
}

void Core::close() {
  if (closed_) return;
  // Whoever misses it waits for acknowledgements until this side is unreachable, so more than once.
  for (int i = 0; i < 3; ++i) {
    for (Peer* each : spoken_to_) say_bye(*each);
  }
  for (Peer* each : spoken_to_) {
    reset(*each, Outcome::canceled);
  }
  for (PostedList& list : posted_) {
    while (ReceiveOp* op = list.first()) cancel(op->context);
  }
  for (UnexpectedList& list : unexpected_) {
    while (InMessage* message = list.pop_front()) release_in_message(*message);
  }
  closed_ = true;
}

}  // namespace holdfast::transport
