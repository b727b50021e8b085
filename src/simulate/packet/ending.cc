#include <algorithm>

#include "simulate/packet/circle.h"
#include "simulate/packet/network.h"

/// How a run ends: steady state, deadlocks, limits; and what its record says of the whole.
namespace holdfast::simulate {

/// Before the first event at or after next_control_: looks for an end. Works on the state before that event.
Network::Verdict Network::control_point() {
  const Time sample = statistics_.sample();
  now_ = next_control_;
  if (faults_ != nullptr && faults_->next_at() <= now_) apply_faults();
  if (now_ >= control_.limit)
    finish(Ending::limit);
  else if (now_ >= next_check_ && circle_found())
    finish(Ending::deadlock);
  else if (!traffic_.finite() && control_.until_steady && faults_ == nullptr && now_ % sample == 0 &&
           statistics_.steady(now_, record_.steady_share))
    finish(Ending::steady);
  if (over_) return Verdict::end;
  // Moments at which nothing happens need no look: the next that matters is the last one before the event.
  const Time check = parameters_.deadlock_check_ns * ps_per_ns;
  const Time event = queue_.now();
  if (next_check_ <= now_) next_check_ = std::max(next_check_ + check, event / check * check);
  next_control_ =
      std::min({std::max(now_ / sample * sample + sample, event / sample * sample), next_check_, control_.limit});
  if (faults_ != nullptr) next_control_ = std::min(next_control_, faults_->next_at());
  return next_control_ <= event ? control_point() : Verdict::go_on;
}

/// Nothing is due. Finite traffic that has all arrived is complete; what still waits waits for ever.
void Network::end_of_events() {
  // What would go on for ever has no event only when the clock cannot hold the next one.
  if (in_flight_ == 0 && !traffic_.finite()) return finish(Ending::limit);
  const bool waits = faults_ != nullptr && unacknowledged();  // for ever: there is no timer
  if (in_flight_ == 0) return finish(traffic_.done() && !waits ? Ending::complete : Ending::stuck);
  describe_circle(blocked_circle());
  finish(record_.circle.empty() ? Ending::stuck : Ending::deadlock);
}

bool Network::circle_found() {
  const std::vector<std::uint32_t> circle = blocked_circle();
  if (circle.empty()) return false;
  if (record_.circle.empty()) describe_circle(circle);
  ++record_.deadlocks_seen;
  return lifetime_ == never && (faults_ == nullptr || faults_->next_at() == never);  // a failure may dissolve it
}

/// The packet whose turn it is at this lane of a switch lacks credits that no known drain returns.
bool Network::lacks_for_good(std::uint32_t index) {
  OutLane& out = outs_[index];
  const OutPort& port = ports_[index >> lane_bits_];
  if (out.waiting == 0 || port.to_adapter() || !port.is_switch) return false;
  return known_credit_time(port, out, lanes_[next_asking(index).lane].head.flits()) == never;
}

/// Calls with every port that somebody wants now, in their order.
template <class Visit>
void Network::visit_asked(const Visit& visit) {
  for (std::size_t word = 0; word < asked_.size(); ++word) {
    for (std::uint64_t bits = asked_[word]; bits != 0; bits &= bits - 1) {
      const auto port = static_cast<fabric::PortId>(word * 64 + static_cast<unsigned>(std::countr_zero(bits)));
      if (ports_[port].lanes_wanted == 0)
        asked_[word] &= ~(bits ^ (bits & (bits - 1)));
      else
        visit(port);
    }
  }
}

/// The lanes of a circle of waiting, or nothing. A lane waits for another when the packet whose turn it is at its
/// output lacks credits that no known drain returns: then only the lane at the other end of the cable can give them.
std::vector<std::uint32_t> Network::blocked_circle() {
  if (by_output()) return blocked_circle_of_queues();
  std::vector<std::uint32_t> waits_for;  // empty: nobody waits for another
  visit_asked([&](fabric::PortId port_index) {
    const OutPort& port = ports_[port_index];
    for (std::uint32_t wanted = port.lanes_wanted; wanted != 0; wanted &= wanted - 1) {
      const std::uint32_t out_index = (port_index << lane_bits_) + static_cast<std::uint32_t>(std::countr_zero(wanted));
      if (!lacks_for_good(out_index)) continue;
      if (waits_for.empty()) waits_for.assign(lanes_.size(), nothing);
      for (std::uint32_t request = 0; request < words_n_ * 64; ++request)
        if ((request_word(out_index, request) >> (request & 63) & 1) != 0)
          waits_for[lane_of(port_index, port, out_index, request)] = outs_[out_index].peer;
    }
  });
  return find_circle(waits_for);
}

void Network::describe_circle(const std::vector<std::uint32_t>& circle) {
  record_.circle.clear();
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const std::uint32_t index = circle[i];
    const InLane& lane = lanes_[by_output() ? blocked_queue(index, circle[(i + 1) % circle.size()]) : index];
    BlockedPort blocked;
    blocked.node = fabric_.node(fabric_.port(index >> lane_bits_).node).name;
    blocked.in_port = lane.number;
    blocked.in_lane = static_cast<std::uint8_t>(index & lane_mask_);
    blocked.out_port = fabric_.number_of(lane.out >> lane_bits_);
    blocked.out_lane = static_cast<std::uint8_t>(lane.out & lane_mask_);
    blocked.packets = lane.packets();
    record_.circle.push_back(blocked);
  }
}

void Network::count_states() {
  for (fabric::PortId index = 0; index < ports_.size(); ++index) {
    const OutPort& port = ports_[index];
    if (!port.is_switch || port.link_flit_ps == 0) continue;
    bool blocked = port.lanes_wanted != 0;
    for (std::uint32_t vl = 0; vl < lanes_n_; ++vl) {
      const std::uint32_t out = (index << lane_bits_) + vl;
      if (outs_[out].waiting == 0) continue;
      const InLane& first = lanes_[next_asking(out).lane];
      if (known_credit_time(port, outs_[out], first.head.flits()) != never) blocked = false;
    }
    if (port.link_free > now_ || (port.lanes_wanted != 0 && !blocked))
      ++record_.ports.sending;
    else if (blocked)
      ++record_.ports.blocked;
    else
      ++record_.ports.idle;
  }
}

void Network::finish(Ending ending) {
  if (over_) return;
  over_ = true;
  record_.ending = ending;
  record_.hosts = host_ports_.count();
  record_.switches = fabric_.switch_count();
  record_.end_ps = std::max(now_, ending == Ending::complete ? record_.completion_ps : 0);
  if (faults_ != nullptr) finish_faults(ending);
  statistics_.fill(record_, traffic_.finite());
  record_.memory_bytes = memory();
  count_states();
}

std::uint64_t Network::memory() const {
  auto held = [](const auto& vector) { return vector.capacity() * sizeof(vector[0]); };
  return sizeof(*this) + queue_.bytes() + held(lanes_) + held(outs_) + held(peers_) + held(ports_) + held(head_since_) +
         held(stalled_until_) + held(words_) + slots_.bytes() + departures_.bytes() + packets_.bytes() +
         arbiter_.bytes() + held(senders_) + held(queued_flits_) + statistics_.bytes() + held(marked_) + held(asked_) +
         held(pending_) + held(queues_of_) + held(queue_to_);
}

}  // namespace holdfast::simulate
