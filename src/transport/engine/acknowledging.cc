// Acknowledgements: what is owed to a peer, and what follows from one that came.
#include <algorithm>

#include "transport/engine/core.h"
#include "transport/engine/planted.h"

namespace holdfast::transport {
namespace {

constexpr std::uint64_t reordering_threshold = 3;  // RFC 9002, section 6.1.1

}  // namespace

// As much of it as fits a packet of the rail. Where the last one had no room for all partial VFRAGs, this one begins
// behind it: what is never told fills the peer's window, and what is missing finds no room in it.
void Core::fill_ack(Peer& peer, std::uint32_t rail, wire::AckFrame& frame) {
  const std::size_t room =
      rails_[rail].traits.most_packet_bytes - wire::packet_header_bytes - wire::ack_frame_bytes - wire::bye_frame_bytes;
  const std::size_t most = std::min(wire::most_partials, room / wire::ack_partial_bytes);
  frame.cumulative = peer.in.base();
  frame.message_limit = message_limit(peer);
  frame.byte_limit = byte_limit(peer);
  frame.continued = serial_less(peer.in.base(), peer.partials_from) && serial_less(peer.partials_from, peer.in_end);
  peer.partials_next = peer.in.base();
  for (std::uint32_t number = peer.in.base(); serial_less(number, peer.in_end); ++number) {
    const InVfrag vfrag = peer.in.get(number);
    if (vfrag.mask == 0) continue;
    const std::uint32_t place = number - peer.in.base() - 1;
    if (vfrag.complete() && place < 64) {
      frame.complete |= std::uint64_t{1} << place;
    } else if (frame.continued && serial_less(number, peer.partials_from)) {
      continue;
    } else if (frame.partial_count == most) {
      frame.truncated = true;
      peer.partials_next = number;
      break;
    } else {
      frame.partials[frame.partial_count++] = {number, vfrag.mask};
    }
  }
  if (is_planted(Planted::acknowledge_too_much) && frame.partial_count > 0) {
    frame.partials[0].mask |= frame.partials[0].mask << 1;
  }
  const Path* latest = nullptr;
  for (std::size_t each = 0; each < peer.paths.size(); ++each) {
    const Path& path = peer.paths[each];
    if (!path.stamp_fresh || (latest != nullptr && path.stamp_ns <= latest->stamp_ns)) continue;
    latest = &path;
    frame.echo_rail = static_cast<std::uint8_t>(each);
  }
  if (latest == nullptr) return;
  frame.echo_stamp = latest->stamp;
  frame.echo_delay = wire::to_wire_time(now() - latest->stamp_ns);
}

void Core::owe_ack(Peer& peer, bool at_once) {
  const std::int64_t deadline = at_once ? now() : now() + options_.ack_delay_ns;
  if (!peer.ack_owed || deadline < peer.ack_deadline_ns) peer.ack_deadline_ns = deadline;
  peer.ack_owed = true;
  note(peer, peer.ack_deadline_ns);
}

// What was owed has been put on a rail.
void Core::settle_ack(Peer& peer) {
  peer.ack_owed = false;
  peer.ack_refused = false;
  peer.ack_deadline_ns = 0;
  peer.unacknowledged_packets = 0;
  peer.partials_from = peer.partials_next;
  peer.told_limit = message_limit(peer);
  peer.told_bytes = byte_limit(peer);
  Path* latest = nullptr;
  for (Path& path : peer.paths) {
    if (path.stamp_fresh && (latest == nullptr || path.stamp_ns > latest->stamp_ns)) latest = &path;
  }
  if (latest != nullptr) latest->stamp_fresh = false;
  ++count(Count::acks_sent);
}

bool Core::send_ack(Peer& peer, std::uint32_t rail, bool bye) {
  OutPacket& packet = *packets_.take();
  const wire::PacketHeader header = packet_header(peer, rail);
  wire::Writer writer(packet.headers, header);
  wire::AckFrame ack;
  fill_ack(peer, rail, ack);
  writer.add(ack);
  if (bye) writer.add_bye();
  const std::span<const std::byte> headers = seal(peer, writer, header, {}, 0);
  const iovec list = {packet.headers.data(), headers.size()};
  const Put put = host_.put(rail, peer.id, {&list, 1}, Pool<OutPacket>::handle(&packet));
  if (put == Put::pending || put == Put::taken) {
    begin_put(peer, rail, packet);
    return true;
  }
  packets_.give(&packet);
  if (put == Put::failed && !bye) take_out(peer, rail);  // who is told of the end may have gone before
  return put == Put::done;
}

void Core::send_owed_ack(Peer& peer) {
  if (closed_ || !peer.ack_owed || !peer.established) return;
  const int rail = ack_path(peer);
  // A peer that sends again what has come does not hear the acknowledgements: another rail may do better.
  if (peer.duplicates_in_a_row > 2 && peer.paths.size() > 1) {
    const auto other =
        static_cast<std::uint32_t>((static_cast<unsigned>(rail) + peer.duplicates_in_a_row) % peer.paths.size());
    if (static_cast<int>(other) != rail) send_ack(peer, other, false);
  }
  if (send_ack(peer, static_cast<std::uint32_t>(rail), false)) {
    settle_ack(peer);
  } else {
    peer.ack_refused = true;
    rails_[static_cast<std::uint32_t>(rail)].control_owed = true;
    peer.ack_deadline_ns = now() + std::max<std::int64_t>(options_.ack_delay_ns, 100'000);
    note(peer, peer.ack_deadline_ns);
  }
}

void Core::on_ack(Peer& peer, const wire::AckFrame& frame) {
  ++count(Count::acks_received);
  const std::uint32_t flying = peer.next_vfrag - peer.out.base();
  const std::int32_t ahead = serial_distance(peer.out.base(), frame.cumulative);
  if (ahead > static_cast<std::int32_t>(flying)) {
    ++count(Count::malformed_packets);
    return;
  }
  if (frame.echo_rail != wire::no_rail) on_echo(peer, frame.echo_rail, frame.echo_stamp, frame.echo_delay);
  const Echo echo = {frame.echo_rail, frame.echo_stamp};
  for (std::uint32_t number = peer.out.base(); serial_less(number, frame.cumulative); ++number) {
    acknowledge_vfrag(peer, number, ~std::uint64_t{0}, echo);
  }
  for (std::uint64_t bits = frame.complete; bits != 0; bits &= bits - 1) {
    const auto place = static_cast<std::uint32_t>(__builtin_ctzll(bits));
    acknowledge_vfrag(peer, frame.cumulative + 1 + place, ~std::uint64_t{0}, echo);
  }
  for (std::size_t i = 0; i < frame.partial_count; ++i) {
    acknowledge_vfrag(peer, frame.partials[i].vfrag, frame.partials[i].mask, echo);
  }
  drop_finished_vfrags(peer);
  const bool none = frame.partial_count == 0;
  peer.told_from = frame.continued ? (none ? peer.next_vfrag : frame.partials[0].vfrag) : frame.cumulative;
  peer.told_before = frame.truncated && !none ? frame.partials[frame.partial_count - 1U].vfrag + 1 : peer.next_vfrag;
  for (std::uint32_t each = 0; each < peer.paths.size(); ++each) find_lost(peer, each);
  if (serial_less(peer.message_limit, frame.message_limit)) peer.message_limit = frame.message_limit;
  peer.byte_limit = std::max(peer.byte_limit, frame.byte_limit);
  pump(peer);
}

void Core::drop_finished_vfrags(Peer& peer) {
  while (peer.out.base() != peer.next_vfrag && peer.out.get(peer.out.base()) == nullptr) peer.out.advance();
}

void Core::acknowledge_vfrag(Peer& peer, std::uint32_t number, std::uint64_t mask, const Echo& echo) {
  if (number - peer.out.base() >= peer.next_vfrag - peer.out.base()) return;  // finished before, or never sent
  Vfrag* vfrag = peer.out.get(number);
  if (vfrag == nullptr) return;
  std::uint64_t fresh = mask & vfrag->whole() & ~vfrag->acknowledged;
  if (vfrag->scheduled < 64) fresh &= (std::uint64_t{1} << vfrag->scheduled) - 1;
  vfrag->acknowledged |= fresh;
  for (; fresh != 0; fresh &= fresh - 1) {
    acknowledge(peer, vfrag->fragment(static_cast<std::size_t>(__builtin_ctzll(fresh))), echo);
  }
  if (vfrag->acknowledged != vfrag->whole()) return;
  OutMessage& message = *vfrag->message;
  peer.out.at(number) = nullptr;
  vfrag->done = true;
  vfrag->ack_deadline_ns = 0;
  --message.open_vfrags;
  const bool all = message.all_scheduled() && message.open_vfrags == 0;
  if (vfrag->pending == 0) release_vfrag(*vfrag);
  if (all) message_acknowledged(message);
}

void Core::acknowledge(Peer& peer, Fragment& fragment, const Echo& echo) {
  peer.progress_ns = now();
  peer.sign_ns = now();
  if (fragment.state == Fragment::State::ready) {
    peer.ready.remove(&fragment);
  } else if (fragment.state == Fragment::State::flying) {
    Path& path = peer.paths[fragment.path];
    path.flight.remove(&fragment);
    path.flying_bytes -= fragment.bytes;
    // Of a fragment that went twice the first may be what arrived. It is the last one when nothing older is echoed
    // (RFC 8985, section 6.2).
    const bool sure = fragment.transmissions == 1 ||
                      (echo.rail == fragment.path && !serial_less(echo.stamp, wire::to_wire_time(fragment.sent_ns)));
    if (sure) path.largest_acknowledged = std::max(path.largest_acknowledged, fragment.order);
    path.window.on_acknowledged(fragment.order, fragment.bytes);
    path.rate.on_acknowledged(fragment.mark, fragment.bytes, now(), path.round_trip.smoothed_ns(),
                              path.window.limited(fragment.order));
    if (sure) note_carried(peer, fragment.path, fragment.packet_bytes);
  }
  fragment.state = Fragment::State::acknowledged;
}

// Whether the last acknowledgement said what had arrived of the VFRAG.
bool Core::told_of(const Peer& peer, const Vfrag& vfrag) {
  return !serial_less(vfrag.number, peer.told_from) && serial_less(vfrag.number, peer.told_before);
}

// What was sent on the rail well before something that has arrived is lost, and what went in one packet with it.
void Core::find_lost(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  const std::int64_t patience =
      path.round_trip.smoothed_ns() + path.round_trip.smoothed_ns() / 8;  // RFC 9002, section 6.1.2
  Fragment* next = nullptr;
  for (Fragment* fragment = path.flight.first(); fragment != nullptr; fragment = next) {
    next = FragmentList::next(fragment);
    if (fragment->order > path.largest_acknowledged) break;
    const bool overtaken = fragment->order == path.largest_acknowledged ||
                           fragment->order + reordering_threshold <= path.largest_acknowledged;
    if (!overtaken && (!path.round_trip.measured() || fragment->sent_ns + patience > now())) break;
    if (!told_of(peer, *fragment->vfrag)) continue;  // it may have arrived
    if (fragment->order != path.lost_order) path.window.on_loss(fragment->order, path.next_order);
    note_lost(peer, rail, *fragment);
    make_ready(peer, *fragment);
  }
  judge_losses(peer, rail);
}

void Core::on_echo(Peer& peer, std::uint32_t echo_rail, std::uint32_t stamp, std::uint32_t delay) {
  if (echo_rail >= peer.paths.size()) return;
  const std::uint32_t units = wire::to_wire_time(now()) - stamp - delay;
  constexpr std::uint32_t longest = 60'000'000'000ULL >> wire::time_shift;
  if (units <= longest) peer.paths[echo_rail].round_trip.sample(wire::from_wire_time(units));
  peer.sign_ns = now();
  sign_of_life(peer, echo_rail);
}

}  // namespace holdfast::transport
