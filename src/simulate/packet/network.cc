#include "simulate/packet/network.h"

#include <algorithm>
#include <bit>

namespace holdfast::simulate {

// ------------------------------------------------------------------------------------------------------------- events

Record Network::run() {
  for (std::uint32_t host = 0; host < senders_.size(); ++host) ask_again(host, 0);
  std::uint32_t instants = 0;
  while (!over_) {
    if (!queue_.next_instant()) {
      end_of_events();
      break;
    }
    if (queue_.now() >= next_control_ && control_point() == Verdict::end) break;
    now_ = queue_.now();
    if (prefetches_ && queue_.bucket_begins()) prefetch();
    record_.events += queue_.events().size();
    for (const Event event : queue_.events()) handle(event);
    for (const fabric::PortId port : marked_) {
      ports_[port].marked = false;
      arbitrate(port);
    }
    marked_.clear();
    if ((++instants & 0xfff) != 0) continue;
    if (record_.packet_hops >= control_.packet_hops) finish(Ending::limit);
    if (control_.progress &&
        !control_.progress({now_, record_.messages_delivered, traffic_.messages(), record_.packet_hops}))
      finish(Ending::stopped);
  }
  return std::move(record_);
}

inline void Network::handle(Event event) {
  const std::uint32_t index = event & index_mask;
  switch (kind_of(event)) {
    case Kind::head:
      return came_to_head(index);
    case Kind::wake:
      if (ports_[index].wake != now_) return;
      ports_[index].wake = never;
      return mark(index);
    case Kind::host:
      return host_event(index);
    case Kind::timer:
      return lifetime_over(index);
    case Kind::delivered:
      return delivered_event(index);
  }
}

/// Asks the memory for what the events of the next buckets will touch, one step along the pointers a bucket. Without
/// it, at 2,000 hosts every event waits for several cache lines one after another.
void Network::prefetch() {
  queue_.prefetch(first_look + 1);
  for (std::uint32_t ahead = first_look; ahead > 0; --ahead)
    queue_.visit(ahead, [this, ahead](Event event) {
      const std::uint32_t index = event & index_mask;
      if (kind_of(event) == Kind::head)
        prefetch_head(index, ahead);
      else if (kind_of(event) == Kind::wake)
        prefetch_wake(index, ahead);
      else if (kind_of(event) == Kind::host && ahead == first_look)
        __builtin_prefetch(&senders_[index], 1);
    });
}

inline void Network::prefetch_head(std::uint32_t index, std::uint32_t ahead) {
  InLane& lane = lanes_[index];
  if (ahead == first_look) return __builtin_prefetch(&lane, 1);
  if (ahead == first_look - 1) {
    if (lane.row != nothing) __builtin_prefetch(forwarding_.table(lane.row) + lane.head.destination());
    if (lane.queue.count > 0) queues_.prefetch(lane.queue);
    return drains_.prefetch(lane.drains);
  }
  if (!lane.looked_up) look_up(index, lane);
  if (lane.out == nothing) return;
  const OutPort& port = ports_[lane.out >> lane_bits_];
  const OutLane& out = outs_[lane.out];
  if (ahead == first_look - 2) {
    __builtin_prefetch(&out, 1);
    return __builtin_prefetch(&port, 1);
  }
  if (out.peer == nothing) return;
  const InLane& peer = lanes_[out.peer];
  if (ahead == first_look - 3) {
    departures_.prefetch(port.departures);
    prefetch_sink(port, lane);
    return __builtin_prefetch(&peer, 1);
  }
  drains_.prefetch(peer.drains);
  if (peer.occupied) queues_.prefetch(peer.queue);
}

inline void Network::prefetch_wake(fabric::PortId index, std::uint32_t ahead) {
  const OutPort& port = ports_[index];
  if (ahead == first_look) {
    __builtin_prefetch(&port, 1);
    return __builtin_prefetch(&outs_[index << lane_bits_], 1);
  }
  if (port.lanes_wanted == 0 || ahead < first_look - 2) return;
  const std::uint32_t out = (index << lane_bits_) + static_cast<std::uint32_t>(std::countr_zero(port.lanes_wanted));
  const InLane& lane = lanes_[lane_of(index, next_request(out))];
  const InLane& peer = lanes_[outs_[out].peer];
  if (ahead == first_look - 1) {
    __builtin_prefetch(&lane, 1);
    __builtin_prefetch(&peer, 1);
    return departures_.prefetch(port.departures);
  }
  if (lane.queue.count > 0) queues_.prefetch(lane.queue);
  drains_.prefetch(lane.drains);
  drains_.prefetch(peer.drains);
  if (peer.occupied) queues_.prefetch(peer.queue);
  prefetch_sink(port, lane);
}

inline void Network::prefetch_sink(const OutPort& port, const InLane& lane) const {
  if (!port.to_adapter()) return;
  statistics_.prefetch(port.host);
  packets_.prefetch(lane.head.index());
}

// --------------------------------------------------------------------------------------------------- lanes and
// requests

inline void Network::set_request(std::uint32_t out, std::uint32_t request) {
  OutLane& record = outs_[out];
  request_words(out, record)[request / 64] |= std::uint64_t{1} << (request & 63);
  if (record.waiting++ == 0)
    ports_[out >> lane_bits_].lanes_wanted |= static_cast<std::uint16_t>(1U << (out & lane_mask_));
}

void Network::append(std::uint32_t index, const Queued& packet) {
  InLane& lane = lanes_[index];
  if (lane.occupied) return queues_.push(lane.queue, packet);
  lane.head = packet;
  lane.occupied = true;
  next_head(index);
}

/// Sees to it that the head of a lane comes forward: when the packet before it has left wholly and its own first flit
/// has come through the switch.
void Network::next_head(std::uint32_t index) {
  InLane& lane = lanes_[index];
  if (!lane.occupied) return;
  if (lane.row != nothing) lane.looked_up = false;
  const Time at = std::max(lane.free_at, lane.head.ready + lane.in().of(std::min(lane.head.bytes(), flit_bytes)));
  if (at <= now_)
    came_to_head(index);
  else
    queue_.push(at, event(Kind::head, index));
}

/// The out lane that the tables send the head to; nothing: none.
inline void Network::look_up(std::uint32_t index, InLane& lane) const {
  lane.looked_up = true;
  lane.out = nothing;
  const std::uint8_t number = forwarding_.out_port(lane.row, lane.head.destination());
  if (number == 0 || number > lane.node_ports) return;
  const std::uint32_t level = lane.head.level();
  const std::uint32_t vl = forwarding_.has_lane_maps()
                               ? forwarding_.lane(lane.row, lane.number, number, static_cast<std::uint8_t>(level))
                               : level % lanes_n_;
  if (vl < lanes_n_) lane.out = (((index >> lane_bits_) - lane.number + number) << lane_bits_) + vl;
}

void Network::came_to_head(std::uint32_t index) {
  InLane& lane = lanes_[index];
  if (!lane.looked_up) look_up(index, lane);
  const std::uint32_t out = lane.out;
  if (out == nothing || ports_[out >> lane_bits_].link_flit_ps == 0)
    return discard_head(index, record_.dropped_unroutable);
  if (lifetime_ != never && lane.row != nothing) {
    if (outs_[out].stalled_until > now_) return discard_head(index, record_.dropped_stalled);
    live_on(index);
  }
  lane.waiting = true;
  set_request(out, request_of(index));
  mark(out >> lane_bits_);
}

/// Takes the head off; what follows it is the caller's to bring forward with next_head().
Queued Network::take_head(InLane& lane) {
  const Queued packet = lane.head;
  lane.waiting = false;
  if (lane.queue.count == 0) {
    lane.occupied = false;
  } else {
    lane.head = queues_.at(lane.queue, 0);
    queues_.pop(lane.queue);
  }
  return packet;
}

// --------------------------------------------------------------------------------------------------------- arbitration

inline void Network::arbitrate(fabric::PortId index) {
  OutPort& port = ports_[index];
  if (port.lanes_wanted == 0) return;
  if (now_ < port.cross_free) return schedule(index, port.cross_free);
  Time wake = never;
  const int lane = choose(index, wake);
  if (lane >= 0) {
    send(index, (index << lane_bits_) + static_cast<std::uint32_t>(lane));
    if (port.lanes_wanted != 0) schedule(index, port.cross_free);
  } else if (wake != never) {
    schedule(index, wake);
  }
}

/// The lane that sends now; -1: none may, and `wake` is when one will, as far as that is known.
inline int Network::choose(fabric::PortId index, Time& wake) {
  const std::uint32_t first = index << lane_bits_;
  if (lanes_n_ == 1) return may_send(index, first, wake) ? 0 : -1;
  return arbiter_.choose(
      index, [&](std::uint32_t lane) { return outs_[first + lane].waiting > 0 && may_send(index, first + lane, wake); },
      [&](int lane) {
        const std::uint32_t out = first + static_cast<std::uint32_t>(lane);
        return static_cast<std::int32_t>(lanes_[lane_of(index, next_request(out))].head.flits());
      });
}

/// Whether the packet whose turn it is on this lane has credits and room. Otherwise `wake` is brought forward to when
/// it will, or the lane at the other end is told what is needed, for give_back().
inline bool Network::may_send(fabric::PortId index, std::uint32_t out_index, Time& wake) {
  OutPort& port = ports_[index];
  OutLane& out = outs_[out_index];
  const std::uint32_t flits = lanes_[lane_of(index, next_request(out_index))].head.flits();
  const Time credit = credit_time(port, out, flits);
  if (credit == never) {
    lanes_[out.peer].need = static_cast<std::uint8_t>(flits);
    return false;
  }
  const Time at = port.is_switch ? std::max(credit, room_time(port, flits)) : credit;
  if (at <= now_) return true;
  wake = std::min(wake, at);
  return false;
}

// ---------------------------------------------------------------------------------------------------- credits and room

/// When the last block of a packet leaves the buffer that `port` leads to.
inline Time Network::last_leaves(const OutPort& port, const Drain& drain) const {
  return port.to_adapter() ? drain.last_to_memory() : drain.last_from_switch();
}

inline Time Network::block_leaves(const OutPort& port, const Drain& drain, std::uint32_t block) const {
  if (block + 1 == drain.flits()) return last_leaves(port, drain);
  if (!port.to_adapter()) return drain.block_from_switch(block, port.link(), port.peer_crossbar());
  return hiccup_.after(drain.begun(), pcie_.of((std::uint64_t{block} + 1) * flit_bytes));
}

/// When the sender knows of it.
inline Time Network::announced(Time freed, const OutPort& port) const {
  const Time told = update_ == 0 ? freed : (freed + update_ - 1) / update_ * update_;
  return told + port.propagation;
}

/// When so many credits are there: a moment not after now if they are, `never` if no drain known by now returns enough.
Time Network::credit_time(const OutPort& port, OutLane& out, std::uint32_t flits) {
  std::int32_t missing = static_cast<std::int32_t>(flits) - out.credits;
  InLane& peer = lanes_[out.peer];
  if (missing <= 0 && peer.drains.count < 4) return now_;
  while (peer.drains.count > 0) {
    const Drain& oldest = drains_.at(peer.drains, 0);
    if (announced(last_leaves(port, oldest), port) > now_) break;
    out.credits += static_cast<std::int32_t>(oldest.flits());
    drains_.pop(peer.drains);
  }
  missing = static_cast<std::int32_t>(flits) - out.credits;
  if (missing <= 0) return now_;
  for (std::uint32_t i = 0; i < peer.drains.count; ++i) {
    const Drain& drain = drains_.at(peer.drains, i);
    const auto held = static_cast<std::int32_t>(drain.flits());
    if (missing <= held) return announced(block_leaves(port, drain, static_cast<std::uint32_t>(missing - 1)), port);
    missing -= held;
  }
  return never;
}

/// When the output buffer has space for so many flits; it always will.
inline Time Network::room_time(OutPort& port, std::uint32_t flits) {
  if (port.held + flits <= parameters_.output_buffer) return now_;
  while (port.departures.count > 0) {
    const Departure& oldest = departures_.at(port.departures, 0);
    if (oldest.start + port.link().of(oldest.bytes) > now_) break;
    port.held = static_cast<std::uint16_t>(port.held - oldest.flits);
    departures_.pop(port.departures);
  }
  if (port.held + flits <= parameters_.output_buffer) return now_;
  std::uint32_t excess = port.held + flits - parameters_.output_buffer;
  for (std::uint32_t i = 0; i < port.departures.count; ++i) {
    const Departure& leaving = departures_.at(port.departures, i);
    if (excess <= leaving.flits) return leaving.start + port.link().of(std::min(excess * flit_bytes, leaving.bytes));
    excess -= leaving.flits;
  }
  return now_;
}

// ------------------------------------------------------------------------------------------------------------- sending

inline void Network::send(fabric::PortId index, std::uint32_t out_index) {
  OutPort& port = ports_[index];
  OutLane& out = outs_[out_index];
  const std::uint32_t request = next_request(out_index);
  const std::uint32_t lane_index = lane_of(index, request);
  InLane& lane = lanes_[lane_index];
  clear_request(out_index, request);
  out.turn = static_cast<std::uint16_t>(request);
  out.drops = 0;
  const Queued packet = take_head(lane);
  const std::uint32_t bytes = packet.bytes();
  const std::uint32_t flits = flits_of(bytes);
  out.credits -= static_cast<std::int32_t>(flits);
  ++record_.packet_hops;

  Time start = now_;
  if (port.is_switch) {
    const Crossing crossing = cross(now_, bytes, packet.ready, lane.in(), port.crossbar(), port.link(), port.link_free);
    start = crossing.start;
    departures_.push(port.departures, {start, bytes, flits});
    port.held = static_cast<std::uint16_t>(port.held + flits);
    port.cross_free = lane.free_at = crossing.crossed;
    port.link_free = start + port.link().of(bytes);
    give_back(lane, Drain::from_switch(now_, packet.ready, crossing.crossed, flits));
  } else {
    port.cross_free = port.link_free = lane.free_at = now_ + port.link().of(bytes);
    Sender& sender = senders_[lane.feeder];
    queued_flits_[std::size_t{lane.feeder} * lanes_n_ + (lane_index & lane_mask_)] -= flits;
    if (sender.state == Sender::State::waiting_for_room) ask_again(lane.feeder, now_);
  }
  next_head(lane_index);
  arrive(port, out, packet, start + port.propagation);
}

/// The head of a packet comes to the other end of a cable at `head`.
inline void Network::arrive(OutPort& port, const OutLane& out, Queued packet, Time head) {
  if (!port.to_adapter()) {
    packet.ready = head + latency_;
    return append(out.peer, packet);
  }
  Time& free = statistics_.memory_free(port.host);
  const Time begun = std::max(head + port.link().of(packet.bytes()), free);
  free = hiccup_.after(begun, pcie_.of(packet.bytes()));
  drains_.push(lanes_[out.peer].drains, Drain::to_memory(begun, free, packet.flits()));
  if (packet.destination() != senders_[port.host].lid) return forget(packet.index(), record_.dropped_unroutable);
  in_memory(port.host, packet, free);
  --in_flight_;
  packets_.free(packet.index());
}

/// A packet's last byte will be in memory at `at`, which is now or later.
inline void Network::in_memory(std::uint32_t host, const Queued& packet, Time at) {
  const PacketRecord& record = packets_[packet.index()];
  const std::uint64_t payload = packet.bytes() - header_bytes;
  ++record_.packets_delivered;
  record_.payload_bytes_delivered += payload;
  record_.completion_ps = std::max(record_.completion_ps, at);
  statistics_.packet(at - record.fetched);
  statistics_.payload(host, payload, at);
  if (control_.deliveries != nullptr) control_.deliveries->push_back({record.source, host, record.tag, at});
  if (!record.last || !whole(record)) return;
  ++record_.messages_delivered;
  statistics_.message(at - record.created);
  if (watches_) announce(host, record.tag, at);
}

}  // namespace holdfast::simulate
