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

// Whether a rail that is up has heard from the peer since this one has, or has nothing to hear. Where all are silent it
// is the peer that does not answer (its process waits for a processor, say), and no other rail would do better.
bool Core::another_answers(const Peer& peer, std::uint32_t rail) const {
  const std::int64_t since = peer.paths[rail].silent_since_ns;
  for (std::size_t other = 0; other < peer.paths.size(); ++other) {
    const Path& path = peer.paths[other];
    if (other == rail || path.state != RailState::up) continue;
    if (path.flight.empty() || path.heard_ns >= since) return true;
  }
  return false;
}

std::int64_t Core::timeout_ns(const Peer& peer, const Path& path) const {
  return path.round_trip.timeout_ns(peer.remote_ack_delay_ns, options_.least_timeout_ns, options_.most_timeout_ns,
                                    path.timeouts);
}

// The rail carries packets from the peer and, with `round_trip`, to it.
void Core::sign_of_life(Peer& peer, std::uint32_t rail, bool round_trip) {
  if (!round_trip) return;
  Path& path = peer.paths[rail];
  path.timeouts = 0;
  path.heard_ns = now();
  path.silent_since_ns = path.flight.empty() ? 0 : now();
  if (path.state == RailState::suspect) {
    path.state = RailState::up;
    path.next_probe_ns = 0;
    watch_rails(peer);
  } else if (path.state == RailState::out && (now() >= path.hold_until_ns || !any_up(peer))) {
    take_back(peer, rail);
  }
}

// Its pending fragments go to the rails that are left.
void Core::move_flight(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  while (Fragment* fragment = path.flight.first()) make_ready(peer, *fragment);
  path.silent_since_ns = 0;
}

// A second timeout while others answer, or silence for three ticks: others take over, and it is asked for a sign.
void Core::suspect(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.state != RailState::up) return;
  ++count(Count::rails_suspected);
  path.state = RailState::suspect;
  path.probe_gap_ns = options_.tick_ns;
  path.next_probe_ns = now() + path.probe_gap_ns;
  note(peer, path.next_probe_ns);
  if (another_answers(peer, rail)) move_flight(peer, rail);
  say_hello(peer, rail, false, 0);
}

// The rail does not reach the peer. One that was back for a short while only is kept out for longer each time, so that
// its coming and going does not cost the rest (after RFC 2439).
void Core::take_out(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.state == RailState::out) return;
  ++count(Count::rails_lost);
  path.state = RailState::out;
  const std::int64_t tick = options_.tick_ns;
  const bool brief = path.regained_ns != 0 && now() - path.regained_ns < 1000 * tick;
  path.flaps = brief ? std::min(path.flaps + 1, 9U) : 0;
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
