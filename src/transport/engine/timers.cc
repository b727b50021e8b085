// What happens as time passes. Every peer has a moment before which none of its timers is due, and the engine the first
// of these; a timer that is put off only makes it too early.
#include <algorithm>
#include <utility>

#include "transport/engine/core.h"

namespace holdfast::transport {
namespace {

constexpr std::int64_t never = INT64_MAX;
constexpr std::int64_t most_silence = 4;  ///< of keepalive, of a peer on a rail that is still taken for good

}  // namespace

void Core::note(Peer& peer, std::int64_t deadline_ns) {
  peer.deadline_ns = std::min(peer.deadline_ns, deadline_ns);
  next_deadline_ns = std::min(next_deadline_ns, deadline_ns);
}

void Core::advance() {
  if (now() < next_deadline_ns || closed_) return;
  for (RailRecord& rail : rails_) rail.busy = false;  // a host that never says so is asked again
  for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) send_owed_control(rail);
  for (std::size_t left = waiting_.size(); left > 0; --left) pump(*waiting_.pop_front());
  next_deadline_ns = never;
  for (std::size_t i = 0; i < spoken_to_.size(); ++i) {
    Peer& each = *spoken_to_[i];
    if (each.deadline_ns <= now()) {
      each.deadline_ns = never;
      serve(each);
    }
    next_deadline_ns = std::min(next_deadline_ns, each.deadline_ns);
  }
}

void Core::serve(Peer& peer) {
  if (peer.given_up) return note(peer, serve_lost(peer));
  const std::int64_t vfrags = serve_vfrags(peer);
  const std::int64_t paths = serve_paths(peer);
  const std::int64_t session = serve_session(peer);
  pump(peer);
  if (peer.ack_owed && peer.ack_deadline_ns <= now()) send_owed_ack(peer);
  if (peer.ack_owed && peer.established) note(peer, peer.ack_deadline_ns);
  note(peer, std::min({vfrags, paths, session}));
}

// The timers of all VFRAGs that are out. Gives when the next is due.
std::int64_t Core::serve_vfrags(Peer& peer) {
  std::int64_t next = never;
  for (std::uint32_t number = peer.out.base(); number != peer.next_vfrag; ++number) {
    Vfrag* vfrag = peer.out.get(number);
    if (vfrag == nullptr) continue;
    if (vfrag->ack_deadline_ns != 0 && vfrag->ack_deadline_ns <= now()) {
      vfrag->ack_deadline_ns = vfrag_timeout(peer, *vfrag);
    }
    if (vfrag->ack_deadline_ns != 0) next = std::min(next, vfrag->ack_deadline_ns);
  }
  for (std::uint32_t rail = 0; rail < peer.paths.size(); ++rail) {
    Path& path = peer.paths[rail];
    if (path.flight.empty()) continue;
    find_lost(peer, rail);
    const Fragment* first = path.flight.first();
    if (first != nullptr && first->order < path.largest_acknowledged && path.round_trip.measured()) {
      next = std::min(next, first->sent_ns + path.round_trip.smoothed_ns() * 9 / 8 + 1);
    }
  }
  return next;
}

// The acknowledgement timer is due: of the fragments that are out for a timeout of their rail, a few go again. Gives
// when it is due next; 0 when nothing of the VFRAG is out.
std::int64_t Core::vfrag_timeout(Peer& peer, Vfrag& vfrag) {
  std::int64_t next = never;
  for (std::size_t i = 0; i < vfrag.scheduled; ++i) {
    Fragment& fragment = vfrag.fragment(i);
    if (fragment.state != Fragment::State::flying) continue;
    const std::uint32_t rail = fragment.path;
    Path& path = peer.paths[rail];
    const std::int64_t due = fragment.sent_ns + timeout_ns(peer, path);
    if (due > now()) {
      next = std::min(next, due);
      continue;
    }
    const bool again = may_go_again(peer, rail);
    if (fragment.state != Fragment::State::flying) continue;  // another rail takes what was on this one
    if (again) {
      --path.probes;
      note_lost(peer, rail, fragment);
      make_ready(peer, fragment);
      fragment.stays = true;
      judge_losses(peer, rail);
    } else {
      next = std::min(next, path.next_timeout_ns);
    }
  }
  return next == never ? 0 : next;
}

// After a timeout of a rail two of its fragments go again, and it doubles. Their acknowledgement says what else is
// missing (find_lost), and that is sent again then. A peer that only waited for a processor has lost nothing, and gets
// no more than these two twice (RFC 9002, section 6.2.4).
bool Core::may_go_again(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.timeouts == 0 || path.next_timeout_ns <= now()) {
    ++count(Count::timeouts);
    ++path.timeouts;
    path.probes = 2;
    path.next_timeout_ns = now() + timeout_ns(peer, path);
    if (another_up(peer, rail)) ask(peer, rail);
  }
  return path.probes > 0;
}

// The timers of the rails to a peer. Gives when the next is due.
std::int64_t Core::serve_paths(Peer& peer) {
  std::int64_t next = never;
  for (std::uint32_t rail = 0; rail < peer.paths.size(); ++rail) {
    next = std::min(next, serve_local_timer(peer, rail));
    next = std::min(next, serve_silence(peer, rail));
    next = std::min(next, serve_probes(peer, rail));
  }
  return next;
}

// The local completion timer: a rail that finishes none of its puts does not send. Open MPI DR has one for each VFRAG
// (section 3.3); one for each rail to a peer says which rail it is, when fragments have moved, and serves packets
// without data, too. A process that had no processor sees late what its rail has finished, and a rail over a stream
// finishes nothing while the peer's process does not read. So where there is another rail the peer has to answer on
// that in some rounds before this one is at fault. After that there is one more look at what this rail has finished.
std::int64_t Core::serve_local_timer(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.local_deadline_ns == 0) return never;
  if (path.local_deadline_ns > now()) return path.local_deadline_ns;
  if (path.overdue_ns == 0) {
    ++count(Count::local_timeouts);
    path.overdue_ns = now();
    path.overdue_rounds.start(peer.questions, path.arrived);
    path.last_look = false;
  } else if (!another_up(peer, rail) || path.overdue_rounds.over(options_.tick_ns)) {
    if (std::exchange(path.last_look, true) || !another_up(peer, rail)) {
      path.overdue_ns = 0;
      path.overdue_rounds.stop();
      path.local_deadline_ns = now() + options_.local_timeout_ns;
      take_out(peer, rail);
      return path.local_deadline_ns;
    }
  }
  if (path.last_look || !another_up(peer, rail)) return path.local_deadline_ns = now() + options_.least_timeout_ns;
  ask_others(peer, rail);  // less and less often, while nothing is answered
  const std::int64_t waited = now() - path.overdue_ns;
  const std::int64_t most = std::max(options_.tick_ns, options_.probe_interval_ns);
  return path.local_deadline_ns = now() + std::clamp(waited, options_.tick_ns, most);
}

// A rail that is up and silent for three ticks (NewMadeleine, section 4), or in doubt, is asked, and so are the others.
// Where none answers for long it is out with them.
std::int64_t Core::serve_silence(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.state != RailState::up || (path.silent_since_ns == 0 && path.doubted_ns == 0)) {
    path.passed_over = path.round_due = false;
    return never;
  }
  const bool before = std::exchange(path.passed_over, outdone(peer, rail));
  if (path.passed_over && before) {
    suspect(peer, rail);
    return never;  // serve_probes() says
  }
  // This process may have had no processor after it looked at the others: one more look, before which this rail speaks.
  if (path.passed_over) return now() + options_.least_timeout_ns;
  std::int64_t next = never;
  if (path.round_due) {
    next = path.rounds.next_ns(options_.tick_ns);
    if (next <= now()) {
      path.round_due = false;
      next = never;
      ask_others(peer, rail);
    }
  }
  if (path.next_probe_ns == 0) {
    path.probe_gap_ns = options_.tick_ns;
    path.next_probe_ns = path.silent_since_ns + 3 * options_.tick_ns;
  }
  if (path.next_probe_ns <= now()) {
    path.probe_gap_ns = std::min(2 * path.probe_gap_ns, options_.probe_interval_ns);
    path.next_probe_ns = now() + path.probe_gap_ns;
    if (path.silent_since_ns != 0 && ++path.unanswered > options_.retransmission_limit &&
        path.silent_since_ns + most_silence * options_.keepalive_ns <= now()) {
      take_out(peer, rail);
      return never;
    }
    ask(peer, rail);
  }
  // What is over and has not been silent for a timeout yet is looked at again.
  if (path.rounds.over(options_.tick_ns)) next = std::min(next, now() + options_.least_timeout_ns);
  return std::min(next, path.next_probe_ns);
}

// Probes of a rail that is suspect or out.
std::int64_t Core::serve_probes(Peer& peer, std::uint32_t rail) {
  Path& path = peer.paths[rail];
  if (path.state == RailState::up || path.next_probe_ns == 0) return never;
  const bool wanted = waits_for_acknowledgement(peer) || waits_for_peer(peer);
  if (path.state == RailState::suspect && !path.flight.empty() && another_up(peer, rail)) move_flight(peer, rail);
  if (path.next_probe_ns <= now()) {
    if (path.state == RailState::suspect && ++path.unanswered >= options_.retransmission_limit) take_out(peer, rail);
    say_hello(peer, rail, false, 0);
    path.probe_gap_ns = std::min(2 * path.probe_gap_ns, options_.probe_interval_ns);
    path.next_probe_ns = now() + path.probe_gap_ns;
    if (!wanted && path.probe_gap_ns == options_.probe_interval_ns) path.next_probe_ns = now() + 4 * path.probe_gap_ns;
  }
  return path.next_probe_ns;
}

// Whether something was sent, or is to be sent, that only the peer's protocol has to answer, and it is not to wait for
// its application.
bool Core::waits_for_acknowledgement(const Peer& peer) const {
  if (peer.out.base() != peer.next_vfrag || !peer.ready.empty()) return true;
  return !peer.established && !peer.messages.empty();
}

// Whether the peer's application owes something: a receive for a message that waits, an answer, a message.
bool Core::waits_for_peer(const Peer& peer) const {
  return !peer.messages.empty() || !peer.incoming.empty() || peer.directed_receives > 0;
}

// Something is about to be waited for: if it is the first, the peer's silence counts from now.
void Core::begin_waiting(Peer& peer) {
  if (waits_for_peer(peer)) return;
  peer.sign_ns = now();
  peer.next_keepalive_ns = now() + options_.keepalive_ns;
  note(peer, peer.next_keepalive_ns);
}

// How long to wait before the peer is asked for a sign. A sender that waits for room asks sooner, since what told it of
// room may have been lost, and then less and less often, until there is more room (RFC 9293, section 3.8.6.1). Whoever
// had no answer asks eight times as often: a rail that loses every third answer would else, once in a while, look like
// a peer that is gone.
std::int64_t Core::keepalive_gap(Peer& peer) {
  const bool blocked = !peer.ordered.empty() && !serial_less(peer.next_order, peer.message_limit);
  if (!blocked || peer.asked_at_limit != peer.message_limit || peer.asking_gap_ns == 0) {
    peer.asked_at_limit = peer.message_limit;
    peer.asking_gap_ns = 4 * options_.tick_ns;
  }
  const bool unanswered = now() - peer.sign_ns > options_.keepalive_ns;
  const std::int64_t gap = unanswered ? options_.keepalive_ns / 8 : options_.keepalive_ns;
  return blocked ? std::min(peer.asking_gap_ns, gap) : gap;
}

std::int64_t Core::serve_session(Peer& peer) {
  std::int64_t next = never;
  // What was to be sent again is no longer what was given to send. Nobody knows the right bytes, and messages are
  // delivered in order.
  if (peer.spoiled) {
    give_up(peer, Outcome::spoiled);
    return peer.next_notice_ns;
  }
  const std::int64_t patience = options_.unreachable_after_ns;
  const bool pressing = waits_for_acknowledgement(peer);
  const bool waiting = waits_for_peer(peer);
  if ((pressing && now() - peer.progress_ns >= patience) ||
      (waiting && now() - peer.sign_ns >= patience + options_.keepalive_ns)) {
    end_unreachable(peer);
    return peer.next_notice_ns;
  }
  if (pressing) next = std::min(next, peer.progress_ns + patience);
  if (!peer.established && !peer.messages.empty()) {
    if (peer.next_call_ns <= now()) call(peer);
    return std::min(next, peer.next_call_ns);
  }
  if (!waiting) {
    peer.sign_ns = now();
    return next;
  }
  const std::int64_t gap = keepalive_gap(peer);
  if (peer.next_keepalive_ns <= now()) {
    peer.asking_gap_ns = std::min(2 * peer.asking_gap_ns, options_.keepalive_ns);
    for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) {
      if (peer.paths[rail].state != RailState::out) say_hello(peer, rail, false, 0);
    }
    peer.next_keepalive_ns = now() + gap;
  }
  peer.next_keepalive_ns = std::min(peer.next_keepalive_ns, now() + gap);
  return std::min({next, peer.next_keepalive_ns, peer.sign_ns + patience + options_.keepalive_ns});
}

}  // namespace holdfast::transport
