// Sessions: how two endpoints find out about each other, and what happens when one of them is another than before.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/engine/core.h"
#include "transport/engine/planted.h"

namespace holdfast::transport {
namespace {

constexpr std::int64_t most_notice_gaps = 8;  ///< of probe_interval, between notices to a peer that was given up
constexpr std::array<std::byte, 9216> padding{};

}  // namespace

Core::Core(const Options& options, std::span<const RailTraits> rails, Host& host, std::span<const std::byte> name,
           const Secrets& secrets, std::int64_t now_ns)
    : clock(now_ns),
      options_(options),
      host_(host),
      name_(name.begin(), name.end()),
      first_name_(name_),
      authenticator_(secrets) {
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
    peers_[id] = std::make_unique<Peer>(id, options_.vfrag_window, authenticator_.new_identity());
    Peer& made = *peers_[id];
    made.paths.reserve(rails_.size());
    for (const RailRecord& rail : rails_) {
      made.paths.emplace_back(fragment_bytes, options_.window_bytes, rail.traits.bytes_per_second);
    }
    made.granted_bytes = std::min(options_.eager_credit_bytes, options_.unexpected_bytes - committed_bytes_);
    committed_bytes_ += made.granted_bytes;
    made.progress_ns = made.sign_ns = now();
    made.own_name = name_;
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
  const wire::PacketHeader header = {.rail = static_cast<std::uint8_t>(rail),
                                     .session = peer.remote_session,
                                     .stamp = wire::to_wire_time(now()),
                                     .tag = {}};
  wire::Writer writer(packet.headers, header);
  wire::HelloFrame hello;
  hello.answer = answer;
  hello.flags = static_cast<std::uint8_t>((authenticator_.has_aes() ? wire::HelloFrame::flag_aes : 0) |
                                          (peer.given_up ? wire::HelloFrame::flag_over : 0));
  hello.session = peer.id;
  hello.identity = peer.local_identity;
  hello.known_identity = peer.remote_identity;
  hello.cookie = answer ? 0 : peer.cookie;
  hello.echo_stamp = echo_stamp;
  hello.vfrag_window = options_.vfrag_window;
  hello.message_limit = message_limit(peer);
  hello.byte_limit = byte_limit(peer);
  hello.ack_delay = wire::to_wire_time(options_.ack_delay_ns);
  hello.name = peer.established ? name_ : peer.own_name;
  writer.add(hello);
  Path& path = peer.paths[rail];
  // A rail that is in doubt is to show that it carries packets as long as data's.
  const bool full = !answer && (path.state != RailState::up || path.doubted_ns != 0);
  const std::size_t least = writer.header_bytes() + wire::padding_frame_bytes;
  std::span<const std::byte> rest;
  if (full && least < full_probe_bytes(rail)) {
    rest = std::span(padding).first(full_probe_bytes(rail) - least);
    writer.add_padding(static_cast<std::uint32_t>(rest.size()));
  }
  const std::span<const std::byte> headers = writer.seal(authenticator_.greeting_tag(writer.lay(rest.size()), rest));
  const std::array<iovec, 2> list = {iovec{packet.headers.data(), headers.size()},
                                     iovec{const_cast<std::byte*>(rest.data()), rest.size()}};  // NOLINT: iovec
  const Put put =
      host_.put(rail, peer.id, std::span(list).first(rest.empty() ? 1 : 2), Pool<OutPacket>::handle(&packet));
  (answer ? path.answer_owed : path.hello_owed) = put == Put::busy;
  const bool gone = put != Put::busy && put != Put::failed;
  if (!answer && gone) {
    ++count(Count::probes_sent);
    path.questions.ask({.stamp = header.stamp, .asked_ns = now(), .number = ++peer.questions, .full = full});
  }
  if (put == Put::busy) {
    path.answer_stamp = answer ? echo_stamp : path.answer_stamp;
    rails_[rail].control_owed = true;
    note(peer, now() + 100'000);
  }
  if (put == Put::pending || put == Put::taken) return begin_put(peer, rail, packet);
  packets_.give(&packet);
  if (put == Put::failed) take_out(peer, rail);
}

// A packet of no session: who somebody is, or says to be.
void Core::on_greeting(wire::Reader& packet, std::uint32_t rail) {
  if (!authenticator_.vouches_for(packet) && !is_planted(Planted::ignore_tags)) {
    ++count(Count::forged_packets);
    return;
  }
  wire::FrameType type{};
  while (packet.next(type)) {
    if (type == wire::FrameType::hello) {
      on_hello(packet.header(), packet.hello(), rail);
    } else if (type == wire::FrameType::hello_answer) {
      on_hello_answer(packet.header(), packet.hello(), rail);
    } else if (type == wire::FrameType::challenge) {
      on_challenge(packet.header(), packet.challenge(), rail);
    } else if (type != wire::FrameType::padding) {
      ++count(Count::stale_packets);
      return;
    }
  }
}

// Whether a packet of an established session is from the peer, and for the first time.
bool Core::believed(Peer& peer, const wire::Reader& packet, std::uint32_t rail) {
  if (is_planted(Planted::ignore_identities) || is_planted(Planted::ignore_tags)) return true;
  if (peer.seals == nullptr) {
    const bool there = !authenticator_.asks() && host_.comes_from(peer.id, rail);
    if (!there) ++count(Count::forged_packets);
    return there;
  }
  const SessionSeals::Verdict verdict = peer.seals->incoming(packet);
  if (verdict == SessionSeals::Verdict::forged) ++count(Count::forged_packets);
  if (verdict == SessionSeals::Verdict::replayed) ++count(Count::replayed_packets);
  return verdict == SessionSeals::Verdict::good;
}

// Fills in the lengths, the tag and the check of a packet of the session.
std::span<const std::byte> Core::seal(Peer& peer, wire::Writer& writer, const wire::PacketHeader& header,
                                      std::span<const iovec> payload, std::size_t payload_bytes) {
  const std::span<const std::byte> headers = writer.lay(payload_bytes);
  if (peer.seals == nullptr) return writer.seal(wire::Tag{});
  return writer.seal(peer.seals->outgoing(header.rail, header.number, headers, payload));
}

// Whether the HELLO's identity is the one that was accepted.
bool Core::knows_identity(PeerId id, const wire::HelloFrame& frame) const {
  const Peer* known = known_peer(id);
  return known != nullptr && known->remote_identity == frame.identity;
}

// Whether it is a HELLO of this side's to somebody else, which an enemy sends back: a session of this side with itself
// has the identity that this side has towards itself.
bool Core::is_reflected(PeerId id, const wire::HelloFrame& frame) const {
  if (!std::ranges::equal(frame.name, name_) && !std::ranges::equal(frame.name, first_name_)) return false;
  const Peer* self = known_peer(id);
  return self == nullptr || self->local_identity != frame.identity;
}

// What the HELLO has to bring. It is good for one change of identity.
std::uint64_t Core::cookie_for(PeerId id, const wire::HelloFrame& frame) const {
  const Peer* known = known_peer(id);
  return authenticator_.cookie(frame.name, frame.identity, known == nullptr ? 0 : known->identities);
}

// An identity that is not known ends the session with the one that was, so it has to show first that it hears what is
// sent to its name, and now: a HELLO of an earlier process that was held up, or one that a stranger made, does not.
// Until then nothing is kept of it.
void Core::on_hello(const wire::PacketHeader& header, const wire::HelloFrame& frame, std::uint32_t rail) {
  if (frame.identity == 0) {
    ++count(Count::stray_fragments);
    return;
  }
  PeerId id = host_.find_peer(frame.name, rail);
  if (id == any_peer && authenticator_.asks()) id = host_.peer_named(frame.name, rail);
  if (is_reflected(id, frame)) {
    ++count(Count::forged_packets);
    return;
  }
  if (!knows_identity(id, frame)) {
    if (frame.cookie != cookie_for(id, frame) && !is_planted(Planted::ignore_identities)) {
      return challenge(id, frame, rail);
    }
    id = host_.peer_named(frame.name, rail);
    if (id == any_peer) {
      ++count(Count::stray_fragments);
      return;
    }
    meet(*peer(id), frame);
  } else {
    host_.peer_named(frame.name, rail);  // it may have a rail more
  }
  Peer& from = *peer(id);
  from.remote_session = frame.session;
  hear_of_end(from, frame);
  const bool mutual = frame.known_identity == from.local_identity;
  if (mutual || (frame.known_identity == 0 && !from.established)) learn(from, frame);
  say_hello(from, rail, true, header.stamp);
  pump(from);
}

// Believed where it answers a question that is open, which names the identity that was asked with. What it says of an
// established session's end is as doubtful as a HELLO's.
void Core::on_hello_answer(const wire::PacketHeader& header, const wire::HelloFrame& frame, std::uint32_t rail) {
  Peer* from = known_peer(header.session);
  const bool known = from != nullptr && frame.identity != 0 && frame.known_identity == from->local_identity;
  const auto question = known ? from->paths[rail].questions.take(frame.echo_stamp) : std::nullopt;
  if (!question) {
    ++count(Count::stale_packets);
    return;
  }
  if (host_.peer_named(frame.name, rail) != from->id) {
    ++count(Count::stray_fragments);
    return;
  }
  if (frame.identity != from->remote_identity) {
    if (from->established) return challenge(from->id, frame, rail);
    meet(*from, frame);
  }
  from->remote_session = frame.session;
  hear_of_end(*from, frame);
  if (frame.known_identity == from->local_identity) learn(*from, frame);  // meet() may have taken another
  from->sign_ns = now();
  on_echo(*from, rail, frame.echo_stamp, 0);
  note_answer(*from, rail, *question);
  pump(*from);
}

// Asks whoever is at the name for a HELLO with a cookie. It is shorter than the HELLO was, and tells strangers nothing
// but what that said; processes that share a secret, who asks.
void Core::challenge(PeerId id, const wire::HelloFrame& frame, std::uint32_t rail) {
  ++count(Count::identities_challenged);
  std::array<std::byte, wire::packet_header_bytes + wire::challenge_frame_bytes + wire::most_name_bytes> bytes;
  wire::Writer writer(bytes, {.rail = static_cast<std::uint8_t>(rail),
                              .session = frame.session,
                              .stamp = wire::to_wire_time(now()),
                              .tag = {}});
  wire::ChallengeFrame question;
  question.identity = frame.identity;
  question.cookie = cookie_for(id, frame);
  if (authenticator_.asks()) question.name = name_;
  writer.add(question);
  const std::span<const std::byte> packet = writer.seal(authenticator_.greeting_tag(writer.lay(0)));
  if (id == any_peer) return host_.answer_stranger(rail, frame.name, packet);
  Peer& to = *peer(id);  // the host knows it, so that these are no more than its peers
  to.challenge.assign(packet.begin(), packet.end());
  send_challenge(to, rail);
}

void Core::send_challenge(Peer& to, std::uint32_t rail) {
  OutPacket& packet = *packets_.take();
  std::copy(to.challenge.begin(), to.challenge.end(), packet.headers.begin());
  const iovec list = {packet.headers.data(), to.challenge.size()};
  const Put put = host_.put(rail, to.id, {&list, 1}, Pool<OutPacket>::handle(&packet));
  to.paths[rail].challenge_owed = put == Put::busy;
  if (put == Put::busy) {
    rails_[rail].control_owed = true;
    note(to, now() + 100'000);
  }
  if (put == Put::pending || put == Put::taken) return begin_put(to, rail, packet);
  packets_.give(&packet);  // where it failed, whoever called calls again
}

// The HELLO was meant for somebody. Where another asks, who was sent it by an enemy, the cookie would have this side
// known there by the wrong identity.
void Core::on_challenge(const wire::PacketHeader& header, const wire::ChallengeFrame& frame, std::uint32_t rail) {
  Peer* to = known_peer(header.session);
  if (to == nullptr || frame.identity != to->local_identity ||
      (authenticator_.asks() && host_.find_peer(frame.name, rail) != to->id)) {
    ++count(Count::stale_packets);
    return;
  }
  to->cookie = frame.cookie;
  say_hello(*to, rail, false, 0);
}

// The peer is another than before, or for the first time. What was acknowledged by the one before may not have been
// received: with that one it is lost, unless it had closed. What waits to be sent in the first session, or the next,
// waits on. An identity of this side that packets were sent with is not used again, so that no two sessions have the
// same keys, whoever comes back.
void Core::meet(Peer& peer, const wire::HelloFrame& frame) {
  if (peer.established) {
    ++count(Count::peers_restarted);
    give_up(peer, Outcome::restarted);
  }
  const bool used =
      std::any_of(peer.paths.begin(), peer.paths.end(), [](const Path& path) { return path.packets > 0; });
  if (used) new_identity(peer);
  peer.remote_identity = frame.identity;
  ++peer.identities;
  peer.name.assign(frame.name.begin(), frame.name.end());
  peer.remote_aes = (frame.flags & wire::HelloFrame::flag_aes) != 0;
  agree_on_keys(peer);
}

// From a peer that knows this side's identity, or none yet: what it allows, and that the session may begin. One that
// knows an earlier identity speaks of another session.
void Core::learn(Peer& peer, const wire::HelloFrame& frame) {
  peer.remote_window = std::clamp(frame.vfrag_window, 64U, options_.vfrag_window);
  peer.remote_ack_delay_ns = wire::from_wire_time(frame.ack_delay);
  if (serial_less(peer.message_limit, frame.message_limit)) peer.message_limit = frame.message_limit;
  peer.byte_limit = std::max(peer.byte_limit, frame.byte_limit);
  establish(peer);
}

// After either identity is another.
void Core::agree_on_keys(Peer& peer) {
  if (peer.remote_identity == 0) return;
  peer.key_out = wire::session_key(peer.local_identity, peer.remote_identity);
  peer.key_in = wire::session_key(peer.remote_identity, peer.local_identity);
  for (Path& path : peer.paths) path.packets = 0;
  if (!authenticator_.asks()) return;
  const bool aes = peer.remote_aes && authenticator_.has_aes();
  peer.seals = std::make_unique<SessionSeals>(
      authenticator_.job(), SessionEnd{peer.own_name, peer.local_identity}, SessionEnd{peer.name, peer.remote_identity},
      aes ? wire::Cipher::aes256_gcm : wire::Cipher::chacha20_poly1305, rails_.size());
}

void Core::establish(Peer& peer) {
  if (peer.established || peer.given_up) return;
  peer.established = true;
  peer.next_call_ns = 0;
  peer.progress_ns = peer.sign_ns = now();
}

// A packet of a session that is over: its sender is told who is here now, once a tick.
void Core::on_stale(std::uint32_t session) {
  Peer* to = known_peer(session);
  if (to == nullptr || to->remote_identity == 0 || now() - to->hinted_ns < options_.tick_ns) return;
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

// The peer closes. It has received all that it will, and what still comes of it (BYE goes more than once) is not
// answered: it may be gone, and a rail that does not reach it then is no rail that was lost.
void Core::end_closed(Peer& peer) {
  if (!leaves_nothing(peer)) return give_up(peer, Outcome::closed);
  new_identity(peer);  // what is still under way of this session must not be taken for the next one's
  peer.remote_identity = 0;
  peer.seals.reset();
  for (Path& path : peer.paths) path.packets = 0;
  reset(peer, Outcome::closed);
}

// Nothing goes to the peer any more, and nothing comes from it: a message after one that is lost would be taken for it.
// All operations that wait for the peer fail, later ones are refused, and the peer hears of it when it can.
void Core::give_up(Peer& peer, Outcome outcome) {
  new_identity(peer);  // nothing of the session that is under way is taken any more
  if (!is_planted(Planted::forget_lost_peers)) peer.given_up = outcome;
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

// Whether the peer says that it has given this side up.
void Core::hear_of_end(Peer& peer, const wire::HelloFrame& frame) {
  const bool over = (frame.flags & wire::HelloFrame::flag_over) != 0;
  if (over && !peer.given_up) give_up(peer, Outcome::restarted);
  peer.knows_of_it = over;
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
  peer.partials_from = peer.partials_next = 0;
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
    path.silent_since_ns = path.doubted_ns = 0;
    path.rounds.stop();
    path.lost_in_a_row = 0;
    path.least_lost_bytes = 0;
    path.timeouts = 0;
    if (path.state == RailState::up) path.next_probe_ns = 0;
    path.hello_owed = path.answer_owed = path.challenge_owed = false;
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
  peer.told_from = peer.told_before = 0;
  for (OutMessage* message = peer.messages.first(); message != nullptr;) {
    OutMessage* next = Peer::OutList::next(message);
    stop_summing(*message);
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

// What is still under way of the session so far is nobody's.
void Core::new_identity(Peer& peer) {
  peer.local_identity = authenticator_.new_identity();
  peer.cookie = 0;
  peer.own_name = name_;
  agree_on_keys(peer);
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
