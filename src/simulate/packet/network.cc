#include "simulate/packet/network.h"

#include <algorithm>
#include <bit>

#include "simulate/kernel/prefetch.h"

namespace holdfast::simulate {

// ------------------------------------------------------------------------------------------------------------- events

Record Network::run() {
  for (std::uint32_t host = 0; host < senders_.size(); ++host) ask_again(host, 0);
  is_plain() ? loop<true>() : loop<false>();
  return std::move(record_);
}

template <bool plain>
void Network::loop() {
  std::uint32_t instants = 0;
  while (!over_) {
    if (!queue_.next_instant()) {
      end_of_events();
      break;
    }
    if (queue_.now() >= next_control_ && control_point() == Verdict::end) break;
    now_ = queue_.now();
    if (prefetches_ && queue_.bucket_begins()) prefetch<plain>();
    record_.events += queue_.events().size();
    const bool alone = queue_.events().size() == 1;
    for (const Event event : queue_.events()) {
      const fabric::PortId port = handle<plain>(event);
      if (port != fabric::none) alone ? arbitrate<plain>(port) : mark(port);
    }
    for (const fabric::PortId port : marked_) {
      ports_[port].marked = false;
      arbitrate<plain>(port);
    }
    marked_.clear();
    if ((++instants & 0xfff) != 0) continue;
    if (record_.packet_hops >= control_.packet_hops) finish(Ending::limit);
    if (control_.progress &&
        !control_.progress({now_, record_.messages_delivered, traffic_.messages(), record_.packet_hops,
                            record_.packets_sent, traffic_.packets(parameters_.mtu)}))
      finish(Ending::stopped);
  }
}

/// Applies an event: the port that has to decide after it, if it is one; an adapter's event marks what it needs itself.
template <bool plain>
inline fabric::PortId Network::handle(Event event) {
  const std::uint32_t index = event & index_mask;
  switch (kind_of(event)) {
    case Kind::head:
      return came_to_head<plain>(index);
    case Kind::wake:
      if (ports_[index].wake != now_) return fabric::none;
      ports_[index].wake = never;
      return index;
    case Kind::host:
      host_event(index);
      break;
    case Kind::timer:
      lifetime_over(index);
      break;
    case Kind::delivered:
      delivered_event(index);
      break;
  }
  return fabric::none;
}

/// Asks the memory for what the events of the next buckets will touch, one step along the pointers at a time. Without
/// it, at 2,000 hosts every event waits for several cache lines one after another.
template <bool plain>
void Network::prefetch() {
  queue_.prefetch(3 * look_ahead + 1);
  queue_.visit(3 * look_ahead, [this](Event event) { prefetch_record<plain>(kind_of(event), event & index_mask); });
  queue_.visit(2 * look_ahead, [this](Event event) { prefetch_route<plain>(kind_of(event), event & index_mask); });
  queue_.visit(look_ahead, [this](Event event) { prefetch_way<plain>(kind_of(event), event & index_mask); });
}

template <bool plain>
inline void Network::prefetch_record(Kind kind, std::uint32_t index) {
  if (kind == Kind::head) return prefetch_lane(index);
  if (kind == Kind::wake)
    return lanes_n<plain>() == 1 ? prefetch_out<plain>(index, index) : prefetch_port<plain>(index);
  if (kind != Kind::host) return;
  prefetch_line(&senders_[index]);
  traffic_.prefetch(index);
}

/// A head's forwarding entry; the lane that a port will let across; an adapter's output.
template <bool plain>
inline void Network::prefetch_route(Kind kind, std::uint32_t index) {
  if (kind == Kind::head) {
    const InLane& lane = lanes_[index];
    if (lane.row == nothing) return prefetch_sender<plain>(index, lane);
    prefetch_line(forwarding_.table(lane.row) + lane.head.destination());
  } else if (kind == Kind::wake) {
    const OutPort& port = ports_[index];
    if (lanes_n<plain>() > 1) {
      for (std::uint32_t wanted = port.lanes_wanted; wanted != 0; wanted &= wanted - 1)
        prefetch_line(&outs_[(index << lane_bits<plain>()) + static_cast<std::uint32_t>(std::countr_zero(wanted))]);
    } else if (port.lanes_wanted != 0) {
      prefetch_lane(next_asking<plain>(index, port, index, outs_[index]).lane);
    }
  } else if (kind == Kind::host) {
    const Sender& sender = senders_[index];
    const std::uint32_t lane = (sender.port << lane_bits<plain>()) + sender.lane;
    prefetch_lane(lane);
    prefetch_out<plain>(sender.port, lane);
    prefetch_line(&queued_flits_[std::size_t{index} * lanes_n<plain>() + sender.lane]);
  }
}

/// A head's output, and what lies behind it.
template <bool plain>
inline void Network::prefetch_way(Kind kind, std::uint32_t index) {
  if (kind == Kind::wake) {
    const OutPort& port = ports_[index];
    if (lanes_n<plain>() > 1) return prefetch_chosen<plain>(index, port);
    if (port.lanes_wanted == 0) return;
    const std::uint32_t asking = next_asking<plain>(index, port, index, outs_[index]).lane;
    const InLane& lane = lanes_[asking];
    if (!port.is_switch) return prefetch_sender<plain>(asking, lane);
    if (port.to_adapter()) packets_.prefetch(lane.head.index());
    prefetch_feeder<plain>(lane);
  }
  if (kind != Kind::head) return;
  InLane& lane = lanes_[index];
  if (!lane.looked_up) look_up<plain>(index, lane);
  if (lane.out == nothing) return;
  prefetch_out<plain>(lane.out >> lane_bits<plain>(), lane.out);
  if (peers_[lane.out] >= receiving_) packets_.prefetch(lane.head.index());
  prefetch_feeder<plain>(lane);
}

/// What a packet that leaves an adapter changes there.
template <bool plain>
inline void Network::prefetch_sender(std::uint32_t index, const InLane& lane) const {
  if (lane.feeder == nothing) return;
  prefetch_line(&senders_[lane.feeder]);
  prefetch_line(&queued_flits_[std::size_t{lane.feeder} * lanes_n<plain>() + (index & lane_mask<plain>())]);
}

/// The port that waits for the blocks of this lane's head.
template <bool plain>
inline void Network::prefetch_feeder(const InLane& lane) const {
  if (lane.need == 0) return;
  prefetch_line(&ports_[lane.feeder >> lane_bits<plain>()]);
  prefetch_line(&outs_[lane.feeder]);
}

inline void Network::prefetch_lane(std::uint32_t index) const {
  prefetch_line(&lanes_[index]);
  slots_.prefetch(index, usual_in_);
}

template <bool plain>
inline void Network::prefetch_port(fabric::PortId index) const {
  prefetch_line(&ports_[index]);
  departures_.prefetch(index, usual_out_);
  if (lanes_n<plain>() > 1) arbiter_.prefetch(index);
}

/// The lane whose turn it is, as far as it can be seen now, and the packet that asks for it.
template <bool plain>
inline void Network::prefetch_chosen(fabric::PortId index, const OutPort& port) const {
  const std::uint32_t first = index << lane_bits<plain>();
  const int chosen = arbiter_.expected(index, [&](std::uint32_t lane) {
    const OutLane& out = outs_[first + lane];
    return (port.lanes_wanted >> lane & 1) != 0 && (out.lacking == OutLane::none || out.credits_at <= port.wake);
  });
  if (chosen < 0) return;
  const std::uint32_t out = first + static_cast<std::uint32_t>(chosen);
  prefetch_lane(next_asking<plain>(index, port, out, outs_[out]).lane);
  prefetch_peer<plain>(out);
}

template <bool plain>
inline void Network::prefetch_out(fabric::PortId index, std::uint32_t out) const {
  prefetch_port<plain>(index);
  prefetch_line(&outs_[out]);
  prefetch_peer<plain>(out);
}

template <bool plain>
inline void Network::prefetch_peer(std::uint32_t out) const {
  const std::uint32_t peer = peers_[out];
  if (peer == nothing) return;
  prefetch_lane(peer);
  if (peer >= receiving_) statistics_.prefetch((peer - receiving_) >> lane_bits<plain>());
}

// -------------------------------------------------------------------------------------------------- lanes and requests

template <bool plain>
inline void Network::set_request(OutPort& port, std::uint32_t out, std::uint32_t request) {
  request_word(out, request) |= std::uint64_t{1} << (request & 63);
  if (outs_[out].waiting++ == 0) port.lanes_wanted |= static_cast<std::uint16_t>(1U << (out & lane_mask<plain>()));
}

/// A packet that the cable brings to a switch.
[[gnu::always_inline]] inline void Network::append(std::uint32_t index, const Queued& packet) {
  InLane& lane = lanes_[index];
  const bool first = !lane.occupied();
  slots_.push(lane.slots, Slot(packet));
  if (!first) return;
  lane.head = packet;
  expect_head(index, lane);
}

/// The out lane that the tables send the head to; nothing: none.
template <bool plain>
inline void Network::look_up(std::uint32_t index, InLane& lane) const {
  lane.looked_up = true;
  lane.out = nothing;
  const std::uint8_t number = forwarding_.out_port(lane.row, lane.head.destination());
  if (number == 0 || number > lane.node_ports) return;
  std::uint32_t vl = 0;
  if (!plain && maps_lanes_)
    vl = forwarding_.lane(lane.row, lane.number, number, static_cast<std::uint8_t>(lane.head.level()));
  else if (lanes_n<plain>() > 1)
    vl = lane.head.level() % lanes_n<plain>();
  if (vl < lanes_n<plain>())
    lane.out = (((index >> lane_bits<plain>()) - lane.number + number) << lane_bits<plain>()) + vl;
}

/// The port that has to decide now; none when the packet is lost.
template <bool plain>
fabric::PortId Network::came_to_head(std::uint32_t index) {
  InLane& lane = lanes_[index];
  const auto lost = [&](std::uint64_t& counter) {
    discard_head(index, counter);
    return fabric::none;
  };
  if (!lane.looked_up) look_up<plain>(index, lane);
  const std::uint32_t out = lane.out;
  if (out == nothing) return lost(record_.dropped_unroutable);
  OutPort& port = ports_[out >> lane_bits<plain>()];
  if (port.link_flit_ps == 0) return lost(record_.dropped_unroutable);
  if (!plain && lifetime_ != never && lane.row != nothing) {
    if (stalled_until_[out] > now_) return lost(record_.dropped_stalled);
    live_on(index);
  }
  lane.waiting = true;
  set_request<plain>(port, out, request_of<plain>(index, lane));
  return out >> lane_bits<plain>();
}

// --------------------------------------------------------------------------------------------------------- arbitration

template <bool plain>
inline void Network::arbitrate(fabric::PortId index) {
  OutPort& port = ports_[index];
  if (port.lanes_wanted == 0) return;
  if (now_ < port.cross_free) return schedule(index, port, port.cross_free);
  Time wake = never;
  std::uint32_t out = index << lane_bits<plain>();
  if (!plain && lanes_n_ > 1) {
    const int lane = choose(index, port, wake);
    if (lane < 0) return wake == never ? void() : schedule(index, port, wake);
    out += static_cast<std::uint32_t>(lane);
    send<plain>(port, out, next_asking<plain>(index, port, out, outs_[out]));
  } else {
    const Asking asking = next_asking<plain>(index, port, out, outs_[out]);
    if (!may_send<plain>(port, out, asking, wake)) return wake == never ? void() : schedule(index, port, wake);
    send<plain>(port, out, asking);
  }
  if (port.lanes_wanted != 0) schedule(index, port, port.cross_free);
}

/// The lane that sends now; -1: none may, and `wake` is when one will, as far as that is known.
inline int Network::choose(fabric::PortId index, OutPort& port, Time& wake) {
  const std::uint32_t first = index << lane_bits_;
  const auto asking = [&](std::uint32_t lane) { return next_asking(index, port, first + lane, outs_[first + lane]); };
  return arbiter_.choose(
      index,
      [&](std::uint32_t lane) {
        return (port.lanes_wanted >> lane & 1) != 0 && may_send(port, first + lane, asking(lane), wake);
      },
      [&](int lane) {
        return static_cast<std::int32_t>(lanes_[asking(static_cast<std::uint32_t>(lane)).lane].head.flits());
      });
}

/// Whether the packet that asks for this lane has credits and room. Otherwise `wake` is brought forward to when
/// it will, or the lane at the other end is told what is needed, for give_back(). What was found lacking is not looked
/// at again before its time, for it takes three cache lines elsewhere.
template <bool plain>
[[gnu::always_inline]] inline bool Network::may_send(OutPort& port, std::uint32_t out_index, Asking asking,
                                                     Time& wake) {
  OutLane& out = outs_[out_index];
  std::uint32_t flits = out.flits;
  Time credit = out.credits_at;
  if (out.lacking != asking.request || credit <= now_) {
    flits = lanes_[asking.lane].head.flits();
    credit = credit_time<plain>(port, out, flits);
    if (credit > now_) {
      out.lacking = static_cast<std::uint16_t>(asking.request);
      out.flits = static_cast<std::uint8_t>(flits);
      out.credits_at = credit;
      if (credit == never) lanes_[out.peer].need = static_cast<std::uint8_t>(flits);
    }
  }
  if (credit == never) return false;
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
template <bool plain>
inline Time Network::announced(Time freed, const OutPort& port) const {
  const Time told = plain || update_ == 0 ? freed : (freed + update_ - 1) / update_ * update_;
  return told + port.propagation;
}

/// The sender at the other end waits for credits of this lane's buffer, and some are known now.
template <bool plain>
void Network::wake_feeder(InLane& lane) {
  const fabric::PortId index = lane.feeder >> lane_bits<plain>();
  OutPort& port = ports_[index];
  const Time at = credit_time<plain>(port, outs_[lane.feeder], lane.need);
  if (at == never) return;
  lane.need = 0;
  outs_[lane.feeder].lacking = OutLane::none;
  schedule(index, port, at);
}

/// When so many credits are there: a moment not after now if they are, `never` if no drain known by now returns enough.
template <bool plain>
Time Network::credit_time(const OutPort& port, OutLane& out, std::uint32_t flits) {
  std::int32_t missing = static_cast<std::int32_t>(flits) - out.credits;
  InLane& peer = lanes_[out.peer];
  if (missing <= 0 && peer.left < 4) return now_;
  while (peer.left > 0) {
    const Drain oldest = slots_.oldest(peer.slots).drain();
    if (announced<plain>(last_leaves(port, oldest), port) > now_) break;
    out.credits += static_cast<std::int32_t>(oldest.flits());
    drop_slot(peer);
  }
  missing = static_cast<std::int32_t>(flits) - out.credits;
  if (missing <= 0) return now_;
  for (std::uint32_t i = 0; i < peer.left; ++i) {
    const Drain drain = slots_.at(peer.slots, i).drain();
    const auto held = static_cast<std::int32_t>(drain.flits());
    if (missing <= held)
      return announced<plain>(block_leaves(port, drain, static_cast<std::uint32_t>(missing - 1)), port);
    missing -= held;
  }
  return never;
}

/// When the output buffer has space for so many flits; it always will.
inline Time Network::room_time(OutPort& port, std::uint32_t flits) {
  if (port.held + flits <= parameters_.output_buffer) return now_;
  while (port.departures.count > 0) {
    const Departure& oldest = departures_.oldest(port.departures);
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

template <bool plain>
inline void Network::send(OutPort& port, std::uint32_t out_index, Asking asking) {
  OutLane& out = outs_[out_index];
  InLane& lane = lanes_[asking.lane];
  clear_request<plain>(port, out_index, asking.request);
  out.turn = static_cast<std::uint16_t>(asking.request);
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
    give_back<plain>(lane, Drain::from_switch(now_, packet.ready, crossing.crossed, flits));
    if (lane.occupied()) expect_head(asking.lane, lane);
  } else {
    port.cross_free = port.link_free = lane.free_at = now_ + port.link().of(bytes);
    Sender& sender = senders_[lane.feeder];
    queued_flits_[std::size_t{lane.feeder} * lanes_n<plain>() + (asking.lane & lane_mask<plain>())] -= flits;
    if (sender.state == Sender::State::waiting_for_room) ask_again(lane.feeder, now_);
    drop_slot(lane);
    if (lane.occupied()) queue_.push(forward_time(lane), event(Kind::head, asking.lane));
  }
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
  InLane& buffer = lanes_[out.peer];
  slots_.push(buffer.slots, Slot(Drain::to_memory(begun, free, packet.flits())));
  ++buffer.left;
  if (packet.destination() != host_ports_.lids[port.host]) return forget(packet.index(), record_.dropped_unroutable);
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

// What the other files call.
template fabric::PortId Network::came_to_head<false>(std::uint32_t);
template void Network::wake_feeder<false>(InLane&);
template Time Network::credit_time<false>(const OutPort&, OutLane&, std::uint32_t);

}  // namespace holdfast::simulate
