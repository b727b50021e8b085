#include <algorithm>
#include <cstring>
#include <utility>

#include "simulate/collective/engine.h"

// What a node puts on its wires, and what the wires do to it.
namespace holdfast::simulate::collective {

Time Engine::packet_duration(const Flow& flow, bool host_edge, Direction direction) const {
  const Time whole = wire_bytes(assumptions_, std::int64_t{flow.words} * 8) * assumptions_.byte_ps;
  if (scheme_.protection != Protection::spatial || scheme_.dual_port) return whole;
  bool narrow = assumptions_.narrow_links == NarrowLinks::all;
  if (host_edge) narrow |= assumptions_.narrow_links == NarrowLinks::adapter || direction == Direction::up;
  return narrow ? whole * scheme_.copies : whole;
}

/// Whether one of the strikes, which are in the order of time, meets a packet on this channel. Where strikes wait,
/// `met` is how many of them have had their chance there: a channel's packets come in the order of time, too.
bool Engine::struck(std::span<const Strike> strikes, std::uint32_t& met, std::uint8_t channel, Time start,
                    Time end) const {
  const auto before = [](const Strike& each, Time time) { return each.at < time; };
  const bool waits = disturbance_->strikes_wait;
  auto strike = waits ? strikes.begin() + met : std::lower_bound(strikes.begin(), strikes.end(), start, before);
  bool hit = false;
  for (; strike != strikes.end() && strike->at < end; ++strike) {
    hit |= strike->channel == all_channels || strike->channel == channel;
    if (hit && !waits) return true;
  }
  met = static_cast<std::uint32_t>(strike - strikes.begin());
  return hit;
}

bool Engine::hit_data(Side& side, const Incoming& packet, const TreeEdge& edge, Time start, Time end) {
  const std::uint8_t cable = cable_bit(edge, packet.channel);
  if ((side.burst & cable) != 0) return true;
  const std::uint32_t wire = edge.wire_of(packet.channel);
  const auto channel = static_cast<std::uint8_t>(edge.channel_on_wire(packet.channel));
  const std::size_t index = channel_index(wire, packet.direction, channel);
  if (any_named_ && named_[index] > 0) {
    --named_[index];
    return true;
  }
  bool hit = !waiting_.empty() && std::exchange(waiting_[index], std::uint8_t{0}) != 0;
  std::uint32_t unused = 0;
  const bool waits = disturbance_->strikes_wait;
  if (any_strikes_) hit |= struck(everywhere_, waits ? met_[0][index] : unused, channel, start, end);
  if (any_strikes_ && !by_wire_[wire].empty()) {
    hit |= struck(by_wire_[wire], waits ? met_[1][index] : unused, channel, start, end);
  }
  if (hit && disturbance_->strikes_are_bursts) side.burst |= cable;
  return hit;
}

/// Acknowledgements go through the first channel of the cable that what they answer came by, and only what strikes
/// while they are on the wire hits them.
bool Engine::hit_control(std::uint32_t wire, Time start, Time end) const {
  if (!any_strikes_) return false;
  const auto meets = [&](std::span<const Strike> strikes) {
    auto strike = std::lower_bound(strikes.begin(), strikes.end(), start,
                                   [](const Strike& each, Time time) { return each.at < time; });
    for (; strike != strikes.end() && strike->at < end; ++strike) {
      if (strike->channel == all_channels || strike->channel == 0) return true;
    }
    return false;
  };
  return meets(everywhere_) || meets(by_wire_[wire]);
}

/// Flips bits of the packet's real bytes and lets the receiver's checksums judge them.
Engine::Fate Engine::corrupt(Incoming& packet) {
  Flow& flow = flows_[packet.flow];
  const TreeEdge& edge = tree_of(flow).edges[packet.edge];
  const bool up = packet.direction == Direction::up;
  std::vector<std::uint64_t> words(flow.words);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = packet.value.words[i] + packet.value.shift;
  write_packet({.source = static_cast<std::uint16_t>((up ? edge.child : edge.parent) + 1),
                .destination = static_cast<std::uint16_t>((up ? edge.parent : edge.child) + 1),
                .queue_pair = flow.collective,
                .sequence = flow.segment},
               std::as_bytes(std::span(words)), bytes_);
  if (packet.fate == Fate::hit) {
    ++counts_[Count::corrupted];
    if (disturbance_->mask.empty()) {
      for (std::uint32_t i = 0; i < disturbance_->bits; ++i) {
        const std::uint64_t bit = bits_.below(bytes_.size() * 8);
        bytes_[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      }
    }
    for (std::size_t i = 0; i < std::min(bytes_.size(), disturbance_->mask.size()); ++i) {
      bytes_[i] ^= disturbance_->mask[i];
    }
  } else if (packet.fate == Fate::ended_bad) {
    end_bad_packet(bytes_);
  }
  const ReceivedPacket received = read_packet(bytes_);
  if (received.state != PacketState::good) return packet.fate == Fate::good ? Fate::hit : packet.fate;
  if (packet.fate == Fate::hit) {
    std::memcpy(words.data(), received.payload.data(), received.payload.size());
    if (words.empty() || words[0] != packet.value.words[0] + packet.value.shift ||
        !std::equal(words.begin(), words.end(), packet.value.words,
                    [&](std::uint64_t word, std::uint64_t right) { return word == right + packet.value.shift; })) {
      ++counts_[Count::undetected];
      flow.flipped.push_back(std::move(words));
      packet.value = {flow.flipped.back().data(), 0};
    }
  }
  return Fate::good;
}

/// Gives the packet its time on the wire, not before `earliest` and such that it ends not before `least_tail`, and
/// says what becomes of it there.
Engine::Fate Engine::reserve(Incoming& packet, Time earliest, Time least_tail, bool arrives_bad) {
  Flow& flow = flows_[packet.flow];
  const Tree& tree = tree_of(flow);
  const TreeEdge& edge = tree.edges[packet.edge];
  Side& from = side(flow, packet.edge, packet.direction);
  const std::uint32_t wire = edge.wire_of(packet.channel);
  Time& busy = busy_[channel_index(wire, packet.direction, edge.channel_on_wire(packet.channel))];
  const Time duration = flow.duration[tree.is_host(edge.child) ? 1 : 0][static_cast<std::size_t>(packet.direction)];
  Time start = std::max(std::max(earliest, busy), least_tail - duration);
  ++counts_[Count::packets];
  bool hit = false;
  const auto lost = [&] {
    busy = start + duration;
    packet.tail = busy;
    ++counts_[Count::lost];
    return packet.fate = Fate::lost;
  };
  for (;;) {
    if (!cut_at_.empty() && cut_at_[wire] <= start + duration) return lost();
    hit = !arrives_bad && hit_data(from, packet, edge, start, start + duration);
    if (hit && disturbance_->hits_lose) return lost();  // in a switch: no link could repeat it
    if (!hit || scheme_.protection != Protection::link_retry) break;
    ++counts_[Count::link_retries];
    from.burst = 0;  // it was over when the link asked
    start += duration + assumptions_.link_retry_ps;
  }
  busy = start + duration;
  packet.head = start + assumptions_.cable_delay_ps;
  packet.tail = busy + assumptions_.cable_delay_ps;
  packet.fate = arrives_bad ? Fate::ended_bad : hit ? Fate::hit : Fate::good;
  if (arrives_bad) ++counts_[Count::ended_bad];
  if (hit || everything_) packet.fate = corrupt(packet);
  return packet.fate;
}

void Engine::begin_attempt(Flow& flow, std::uint32_t edge, Direction direction) {
  Side& from = side(flow, edge, direction);
  ++from.attempt;
  from.good_sent = 0;
  from.burst = 0;
  from.timer = false;
  from.good_on_the_way = false;
}

/// Lets the packet arrive. A host's packets, and all on the way up, matter as a whole: of a transmission's copies,
/// those behind the first good one change nothing.
void Engine::deliver(const Incoming& packet) {
  Flow& flow = flows_[packet.flow];
  const Tree& tree = tree_of(flow);
  Side& from = side(flow, packet.edge, packet.direction);
  from.last_tail = std::max(from.last_tail, packet.tail);
  const bool good = packet.fate == Fate::good;
  if (packet.fate == Fate::lost) return;
  const bool forwards = packet.direction == Direction::down && !tree.is_host(tree.edges[packet.edge].child);
  if (!forwards && !everything_) {
    if (from.good_on_the_way) {
      if (good) ++counts_[Count::duplicates];
      return;
    }
    from.good_on_the_way = good;
  }
  Pending pending;
  pending.packet = packet;
  pending.task = Task::arrive;
  if (forwards) push(packet.head, Kind::head, pending);
  push(packet.tail, good ? Kind::good_tail : Kind::bad_tail, pending);
}

void Engine::send_copies(std::uint32_t flow_index, std::uint32_t edge_index, Direction direction, Time earliest,
                         const Value& value, std::uint32_t copies) {
  Flow& flow = flows_[flow_index];
  const TreeEdge& edge = tree_of(flow).edges[edge_index];
  Side& from = side(flow, edge_index, direction);
  bool any_lost = false;
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (std::uint8_t channel = 0; channel < edge.channels; ++channel) {
      Incoming packet;
      packet.value = value;
      packet.flow = flow_index;
      packet.edge = edge_index;
      packet.attempt = from.attempt;
      packet.channel = channel;
      packet.expected = static_cast<std::uint8_t>(copies * edge.channels);
      packet.direction = direction;
      reserve(packet, earliest, 0, false);
      any_lost |= packet.fate == Fate::lost;
      ++from.good_sent;
      deliver(packet);
    }
  }
  if (any_lost) arm_timer(flow_index, edge_index, direction);
}

void Engine::send_whole(std::uint32_t flow_index, std::uint32_t edge_index, Direction direction, Time earliest,
                        const Value& value) {
  Flow& flow = flows_[flow_index];
  begin_attempt(flow, edge_index, direction);
  send_copies(flow_index, edge_index, direction, earliest, value, tree_of(flow).edges[edge_index].copies);
}

/// Timers matter only when neither acknowledgement will come: they are set when that is known, for when they would have
/// run out.
void Engine::arm_timer(std::uint32_t flow_index, std::uint32_t edge_index, Direction direction) {
  Side& from = side(flows_[flow_index], edge_index, direction);
  if (from.timer) return;
  from.timer = true;
  Pending pending;
  pending.task = Task::timeout;
  pending.packet.flow = flow_index;
  pending.packet.edge = edge_index;
  pending.packet.direction = direction;
  pending.packet.attempt = from.attempt;
  push(std::max(now_, from.last_tail + timeout_ps(assumptions_)), Kind::ready, pending);
}

/// The receiver of this packet acknowledges its transmission, or asks for a repetition, over the cable that it came by.
void Engine::answer(const Incoming& packet, bool good) {
  const std::uint32_t flow_index = packet.flow, edge_index = packet.edge;
  const Direction direction = packet.direction;
  Flow& flow = flows_[flow_index];
  const TreeEdge& edge = tree_of(flow).edges[edge_index];
  Side& to = side(flow, edge_index, direction);
  to.answered = to.receiving;
  ++counts_[good ? Count::acknowledgements : Count::naks];
  const Time end = now_ + std::int64_t{assumptions_.nak_bytes} * assumptions_.byte_ps;
  if (everything_) {
    write_packet({.kind = good ? PacketKind::acknowledgement : PacketKind::negative_acknowledgement,
                  .queue_pair = flow.collective,
                  .sequence = flow.segment},
                 {}, bytes_);
    if (read_packet(bytes_).state != PacketState::good) ++counts_[Count::undetected];
  }
  const std::uint32_t wire = edge.wire_of(packet.channel);
  const bool cut = !cut_at_.empty() && cut_at_[wire] <= end;
  if (cut || hit_control(wire, now_, end)) {
    ++counts_[Count::control_lost];
    return arm_timer(flow_index, edge_index, direction);
  }
  if (good && !windowed_) {
    to.acknowledged = true;
    return;
  }
  Pending pending;
  pending.task = good ? Task::acknowledged : Task::repeat;
  pending.packet.flow = flow_index;
  pending.packet.edge = edge_index;
  pending.packet.direction = direction;
  pending.packet.attempt = to.receiving;
  Time at = end + assumptions_.cable_delay_ps;
  if (!good) at += std::int64_t{assumptions_.nak_delays} * assumptions_.switch_delay_ps;
  push(at, Kind::control, pending);
}

void Engine::acknowledged(std::uint32_t flow_index, std::uint32_t edge_index, Direction direction) {
  Flow& flow = flows_[flow_index];
  Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  side(flow, edge_index, direction).acknowledged = true;
  const std::uint32_t node = tree.edges[edge_index].child;
  if (direction == Direction::down || !flow.nodes[node].sending) return;
  for (std::uint32_t i = 0; i < tree.nodes[node].up_count; ++i) {
    if (!side(flow, tree.nodes[node].first_up + i, Direction::up).acknowledged) return;
  }
  flow.nodes[node].sending = false;
  --running.outstanding[node];
  if (tree.is_host(node)) {
    if (running.started[node] == running.segments) return;
    const std::uint32_t next = running.first_flow + running.started[node]++;
    if (flows_[next].nodes.empty()) activate(flows_[next]);
    return sum_ready(next, node);
  }
  if (running.waiting[node].empty()) return;
  const std::uint32_t next = running.waiting[node].front();
  running.waiting[node].pop_front();
  send_sum(next, node);
}

void Engine::repeat(std::uint32_t flow_index, std::uint32_t edge_index, Direction direction, std::uint16_t attempt,
                    bool timeout) {
  Flow& flow = flows_[flow_index];
  const TreeEdge& edge = tree_of(flow).edges[edge_index];
  Side& from = side(flow, edge_index, direction);
  if (from.acknowledged || from.attempt != attempt) return;
  const bool up = direction == Direction::up;
  const NodeState& sender = flow.nodes[up ? edge.child : edge.parent];
  if (up ? !sender.summed : !sender.holds_result) return;  // it will send when it has something good
  if (timeout) {
    if (from.retries == assumptions_.retry_limit) {
      ++counts_[Count::given_up];
      return;
    }
    ++from.retries;
    ++counts_[Count::timeouts];
  } else {
    ++counts_[Count::repetitions];
  }
  send_whole(flow_index, edge_index, direction, now_, up ? sender.sum : sender.result);
}

}  // namespace holdfast::simulate::collective
