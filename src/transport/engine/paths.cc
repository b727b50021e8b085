// Rails to a peer: which one a fragment takes, and when one is out.
#include <algorithm>
#include <utility>

#include "transport/engine/core.h"

namespace holdfast::transport {

// The rail on which a fragment would arrive first: of those that are up, have room in their window and in the rail
// itself, the one with the least time to empty what is on its way plus the fragment. Suspects serve when none is up.
// None: -1.
int Core::choose_path(Peer& peer) {
  const Fragment* again = peer.ready.first();
  if (again != nullptr && again->stays && peer.paths[again->path].state == RailState::up && !rails_[again->path].busy) {
    return again->path;
  }
  const std::size_t bytes = again == nullptr ? fragment_bytes : again->bytes;
  int best = -1;
  double best_time = 0;
  const bool up = any_up(peer);
  for (std::size_t rail = 0; rail < peer.paths.size(); ++rail) {
    const Path& path = peer.paths[rail];
    if (path.state == RailState::out || (up && path.state != RailState::up)) continue;
    if (rails_[rail].busy) {
      if (!WaitingList::linked(&peer)) waiting_.push_back(&peer);
      continue;
    }
    if (path.flying_bytes > 0 && path.flying_bytes + bytes > path.window.bytes()) continue;
    const double time = static_cast<double>(path.flying_bytes + bytes) / path.rate.bytes_per_second() +
                        static_cast<double>(path.round_trip.smoothed_ns()) * 0.5e-9;
    if (best >= 0 && time >= best_time) continue;
    best = static_cast<int>(rail);
    best_time = time;
  }
  return best;
}

// Where data came from last, unless that rail is out and another is not.
int Core::ack_path(const Peer& peer) const {
  if (peer.paths[peer.ack_rail].state != RailState::out) return static_cast<int>(peer.ack_rail);
  for (std::size_t rail = 0; rail < peer.paths.size(); ++rail) {
    if (peer.paths[rail].state == RailState::up) return static_cast<int>(rail);
  }
  return static_cast<int>(peer.ack_rail);
}

bool Core::any_up(const Peer& peer) const {
  return std::any_of(peer.paths.begin(), peer.paths.end(),
                     [](const Path& path) { return path.state == RailState::up; });
}

bool Core::another_up(const Peer& peer, std::uint32_t rail) const {
  for (std::uint32_t other = 0; other < peer.paths.size(); ++other) {
    if (other != rail && peer.paths[other].state == RailState::up) return true;
  }
  return false;
}

// Whether the peer has answered on other rails often enough while this one, asked before, said nothing for a timeout.
// Where all are silent it is the peer that does not answer (its process waits for a processor, say), and no other rail
// would do better.
bool Core::outdone(const Peer& peer, std::uint32_t rail) const {
  const Path& path = peer.paths[rail];
  if (!path.rounds.over(options_.tick_ns)) return false;
  const std::int64_t since = path.doubted_ns != 0 ? path.doubted_ns : path.silent_since_ns;
  const std::int64_t patience =
      path.round_trip.timeout_ns(peer.remote_ack_delay_ns, options_.least_timeout_ns, options_.most_timeout_ns, 0);
  return since != 0 && since + patience <= now() && another_up(peer, rail);
}

// How long a question is that is to show that a rail carries data: as long as its packets, within what packets of
// networks have (Ethernet's long ones).
std::size_t Core::full_probe_bytes(std::uint32_t rail) const {
  constexpr std::size_t most_probe_bytes = 9000;
  return std::min({most_probe_bytes, rails_[rail].traits.most_packet_bytes, fragment_bytes + wire::data_header_bytes});
}

std::int64_t Core::timeout_ns(const Peer& peer, const Path& path) const {
  return path.round_trip.timeout_ns(peer.remote_ack_delay_ns, options_.least_timeout_ns, options_.most_timeout_ns,
                                    path.timeouts);
}

// Something that went to the peer on this rail has arrived. It may have been a short packet, so that a rail that was
// left or is in doubt stays so.
void Core::sign_of_life(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  path.heard_ns = now();
  if (path.timeouts > 1) start_timers_again(peer, rail);
  path.timeouts = 0;
  if (path.state == RailState::up) path.unanswered = 0;
  path.silent_since_ns = path.flight.empty() ? 0 : now();
  if (path.state == RailState::up && path.doubted_ns == 0) {
    path.next_probe_ns = 0;
    path.rounds.stop();
  }
}

// The peer has answered a question on this rail: rounds of the others, that say nothing, may have ended with that.
void Core::end_rounds(Peer& peer, std::uint32_t rail, std::uint64_t number) {
  for (std::uint32_t other = 0; other < peer.paths.size(); ++other) {
    Path& silent = peer.paths[other];
    if (other == rail) continue;
    const std::int64_t tick = options_.tick_ns;
    if (silent.rounds.answer(number, peer.questions, silent.arrived, now())) {
      silent.round_due = !silent.rounds.over(tick);
      note(peer, silent.rounds.over(tick) ? now() : silent.rounds.next_ns(tick));
    }
    if (silent.overdue_rounds.answer(number, peer.questions, silent.arrived, now())) {
      silent.local_deadline_ns = silent.overdue_rounds.over(tick) ? now() : silent.overdue_rounds.next_ns(tick);
      note(peer, silent.local_deadline_ns);
    }
  }
}

// After a silence: what is on its way is waited for as long as at first, and not as long as the silence made it.
void Core::start_timers_again(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  const std::int64_t deadline = now() + path.round_trip.timeout_ns(peer.remote_ack_delay_ns, options_.least_timeout_ns,
                                                                   options_.most_timeout_ns, 0);
  for (Fragment* each = path.flight.first(); each != nullptr; each = FragmentList::next(each)) {
    each->vfrag->ack_deadline_ns = std::min(each->vfrag->ack_deadline_ns, deadline);
  }
  note(peer, deadline);
}

// The peer has answered a question on this rail. One that was as long as the rail's packets, and was asked since the
// rail was left or doubted, shows that it carries them.
void Core::note_answer(Peer& peer, std::uint32_t rail, const OpenQuestions::Question& question) {
  sign_of_life(peer, rail);
  end_rounds(peer, rail, question.number);
  const Path& path = peer.paths[rail];
  const std::int64_t since = path.state == RailState::up ? path.doubted_ns : path.left_ns;
  if (question.full && question.asked_ns >= since) prove(peer, rail);
}

// A packet with so many bytes of data has arrived by this rail.
void Core::note_carried(Peer& peer, std::uint32_t rail, std::uint32_t bytes) {
  sign_of_life(peer, rail);
  Path& path = peer.paths[rail];
  if (bytes < path.least_lost_bytes) return;
  if (path.state != RailState::up || path.doubted_ns != 0 || path.lost_in_a_row > 0) prove(peer, rail);
}

// A fragment is lost, or took too long. A rail that loses all of some length while shorter ones arrive (the hole of an
// MTU, say) looks well by all other signs. While nothing arrives at all it is another matter (serve_silence).
void Core::note_lost(Peer& peer, std::uint32_t rail, Fragment& fragment) {
  Path& path = peer.paths[rail];
  if (std::exchange(path.lost_order, fragment.order) != fragment.order) {
    const std::uint32_t bytes = fragment.packet_bytes;
    path.least_lost_bytes = path.lost_in_a_row == 0 ? bytes : std::min(path.least_lost_bytes, bytes);
    ++path.lost_in_a_row;
  }
  if (path.heard_ns < fragment.sent_ns || fragment.losses == UINT8_MAX) return;
  if (++fragment.losses >= options_.retransmission_limit) path.useless = true;
}

// After losses: a rail that has lost one fragment again and again, and answered meanwhile, is out: the count of
// retransmissions that disables a BTL (Open MPI DR, section 3.3). One that lost some of a length in a row is asked
// whether it carries that.
void Core::judge_losses(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.useless && another_up(peer, rail)) {
    take_out(peer, rail);
  } else if (path.lost_in_a_row >= options_.retransmission_limit) {
    doubt(peer, rail);
  }
  path.useless = false;
}

// The rail carries packets as long as data's.
void Core::prove(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  path.doubted_ns = 0;
  path.rounds.stop();
  path.lost_in_a_row = path.unanswered = 0;
  path.least_lost_bytes = 0;
  if (path.state == RailState::up) path.next_probe_ns = 0;
  if (path.state == RailState::suspect) {
    path.state = RailState::up;
    path.next_probe_ns = 0;
    watch_rails(peer);
  } else if (path.state == RailState::out && (now() >= path.hold_until_ns || !any_up(peer))) {
    take_back(peer, rail);
  }
}

// Asks the peer for a sign on this rail, and on the others that are up: only their answers tell this rail's silence
// from the peer's. This one first, so that what is answered on the others was asked later.
void Core::ask(Peer& peer, std::uint32_t rail) {
  ask_on(peer, rail);
  ask_others(peer, rail);
}

void Core::ask_others(Peer& peer, std::uint32_t rail) {
  for (std::uint32_t other = 0; other < peer.paths.size(); ++other) {
    if (other != rail && peer.paths[other].state == RailState::up) ask_on(peer, other);
  }
}

void Core::ask_on(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  say_hello(peer, rail, false, 0);
  if (path.silent_since_ns == 0 && path.state == RailState::up) path.silent_since_ns = now();
  if (!path.rounds.running()) path.rounds.start(peer.questions, path.arrived);
}

// Something says that the rail does not carry everything to the peer: a hint that anybody may have made up (an ICMP
// message), or fragments of some length that are all lost. It costs a question as long as the rail's packets, once a
// tick at most. Without another rail there is nothing to be gained.
void Core::doubt(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.state != RailState::up || path.doubted_ns != 0 || !peer.established || !another_up(peer, rail)) return;
  if (path.last_doubt_ns != 0 && path.last_doubt_ns + options_.tick_ns > now()) return;
  ++count(Count::rails_doubted);
  path.doubted_ns = path.last_doubt_ns = now();
  path.rounds.stop();
  path.probe_gap_ns = options_.tick_ns;
  path.next_probe_ns = now() + path.probe_gap_ns;
  note(peer, path.next_probe_ns);
  ask(peer, rail);
}

// Its pending fragments go to the rails that are left.
void Core::move_flight(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  while (Fragment* fragment = path.flight.first()) make_ready(peer, *fragment);
  path.silent_since_ns = 0;
}

// Others answer and this one does not: they take over, and it is asked for a sign.
void Core::suspect(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.state != RailState::up) return;
  ++count(Count::rails_suspected);
  path.state = RailState::suspect;
  path.left_ns = now();
  path.doubted_ns = 0;
  path.rounds.stop();
  path.unanswered = 0;
  path.probe_gap_ns = options_.tick_ns;
  path.next_probe_ns = now() + path.probe_gap_ns;
  note(peer, path.next_probe_ns);
  move_flight(peer, rail);
  say_hello(peer, rail, false, 0);
}

// The rail does not reach the peer. One that was back for a short while only is kept out for longer each time, so that
// its coming and going does not cost the rest (after RFC 2439).
void Core::take_out(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.state == RailState::out) return;
  ++count(Count::rails_lost);
  path.state = RailState::out;
  path.left_ns = now();
  path.doubted_ns = 0;
  path.rounds.stop();
  path.unanswered = 0;
  const std::int64_t tick = options_.tick_ns;
  const bool brief = path.regained_ns != 0 && now() - path.regained_ns < 1000 * tick;
  path.flaps = brief || path.useless ? std::min(path.flaps + 1, 9U) : 0;
  path.hold_until_ns = path.flaps == 0 ? 0 : now() + (tick << path.flaps);
  path.probe_gap_ns = 2 * tick;
  path.next_probe_ns = now() + path.probe_gap_ns;
  path.window.restart(path.next_order);
  note(peer, path.next_probe_ns);
  move_flight(peer, rail);
  watch_rails(peer);
}

void Core::take_back(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  ++count(Count::rails_regained);
  path.state = RailState::up;
  path.regained_ns = now();
  path.timeouts = 0;
  path.silent_since_ns = 0;
  path.next_probe_ns = 0;
  watch_rails(peer);
}

// Keeps the account of the time without any rail.
void Core::watch_rails(Peer& peer) {
  const bool none =
      std::all_of(peer.paths.begin(), peer.paths.end(), [](const Path& path) { return path.state == RailState::out; });
  if (none && peer.without_rail_ns == 0) peer.without_rail_ns = now();
  if (!none && peer.without_rail_ns != 0) {
    count(Count::time_without_rail_ns) += static_cast<std::uint64_t>(now() - peer.without_rail_ns);
    peer.without_rail_ns = 0;
  }
}

// What the protocol says for itself and found no room goes before data: on a rail that data keeps full, a peer would
// else seem to be out of reach.
void Core::send_owed_control(std::uint32_t rail) {
  if (!std::exchange(rails_[rail].control_owed, false)) return;
  for (Peer* each : spoken_to_) {
    const Path& path = each->paths[rail];
    if (path.challenge_owed) send_challenge(*each, rail);
    if (path.answer_owed) say_hello(*each, rail, true, path.answer_stamp);
    if (path.hello_owed) say_hello(*each, rail, false, 0);
    if (each->ack_owed && each->ack_refused && ack_path(*each) == static_cast<int>(rail)) send_owed_ack(*each);
  }
}

void Core::on_rail_ready(std::uint32_t rail) {
  if (rail >= rails_.size() || closed_) return;
  rails_[rail].busy = false;
  send_owed_control(rail);
  for (std::size_t left = waiting_.size(); left > 0; --left) {
    Peer* first = waiting_.pop_front();
    if (first == nullptr) return;
    pump(*first);
  }
}

void Core::on_rail_doubted(std::uint32_t rail, PeerId peer_id) {
  if (rail >= rails_.size() || closed_) return;
  for (Peer* each : spoken_to_) {
    if (peer_id == any_peer || each->id == peer_id) doubt(*each, rail);
  }
}

void Core::on_rail_restored(std::uint32_t rail) {
  if (rail >= rails_.size() || closed_) return;
  for (Peer* each : spoken_to_) {
    Path& path = each->paths[rail];
    if (path.state == RailState::up) continue;
    path.probe_gap_ns = 2 * options_.tick_ns;
    path.next_probe_ns = now();
    note(*each, now());
  }
}

void Core::on_rail_failed(std::uint32_t rail, PeerId peer_id) {
  if (rail >= rails_.size() || closed_) return;
  for (Peer* each : spoken_to_) {
    if (peer_id != any_peer && each->id != peer_id) continue;
    take_out(*each, rail);
    pump(*each);
  }
}

RailReport Core::rail(std::uint32_t rail, PeerId peer) const {
  const Peer* known = known_peer(peer);
  if (known == nullptr || rail >= known->paths.size()) return {};
  const Path& path = known->paths[rail];
  return {.state = path.state,
          .round_trip_ns = path.round_trip.smoothed_ns(),
          .bytes_per_second = path.rate.bytes_per_second(),
          .window_bytes = path.window.bytes(),
          .flying_bytes = path.flying_bytes};
}

}  // namespace holdfast::transport
