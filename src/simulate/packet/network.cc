#include "simulate/packet/network.h"

#include <algorithm>
#include <bit>

#include "simulate/kernel/prefetch.h"

namespace holdfast::simulate {

// ------------------------------------------------------------------------------------------------------------- events

Record Network::run() {
  traffic_.begin(*this);
  for (std::uint32_t host = 0; host < senders_.size(); ++host) ask_again(host, 0);
  if (faults_ != nullptr) {
    begin_faults();
    loop<Form::faulty>();
  } else {
    is_plain() ? loop<Form::plain>() : by_output() ? loop<Form::queues>() : loop<Form::general>();
  }
  return std::move(record_);
}

template <Form form>
void Network::loop() {
  std::uint32_t instants = 0;
  while (!over_) {
    if (!queue_.next_instant()) {
      end_of_events();
      break;
    }
    if (queue_.now() >= next_control_ && control_point() == Verdict::end) break;
    now_ = queue_.now();
    if constexpr (form != Form::faulty) {  // there tables may change before a head comes forward
      if (prefetches_ && queue_.bucket_begins() && queue_.pending() > few_events) prefetch<form>();
    }
    record_.events += queue_.events().size();
    const bool alone = queue_.events().size() == 1;
    for (const Event event : queue_.events()) {
      const fabric::PortId port = handle<form>(event);
      if (port != fabric::none) alone ? arbitrate<form>(port) : mark(port);
    }
    if (form == Form::queues && sends_ != 0) match();
    for (const fabric::PortId port : marked_) {
      ports_[port].marked = false;
      arbitrate<form>(port);
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
template <Form form>
inline fabric::PortId Network::handle(Event event) {
  const std::uint32_t index = event & index_mask;
  switch (kind_of(event)) {
    case Kind::head:
      return came_to_head<form>(index);
    case Kind::wake:
      if (ports_[index].wake != now_) return fabric::none;
      ports_[index].wake = never;
      return index;
    case Kind::host:
      form == Form::faulty ? faulty_host_event(index) : host_event(index);
      break;
    case Kind::timer:
      lifetime_over(index);
      break;
    case Kind::delivered:
      delivered_event(index);
      break;
    case Kind::freed:
      sending_over(index);
      break;
    case Kind::arrived:
      if constexpr (form == Form::faulty) packet_arrived(index);
      break;
    case Kind::notice:
      if constexpr (form == Form::faulty) notice_event(index);
      break;
  }
  return fabric::none;
}

/// Asks the memory for what the events of the next buckets will touch, one step along the pointers at a time. Without
/// it, at 2,000 hosts every event waits for several cache lines one after another.
template <Form form>
void Network::prefetch() {
  queue_.prefetch(3 * look_ahead + 1);
  queue_.visit(3 * look_ahead, [this](Event event) { prefetch_record<form>(kind_of(event), event & index_mask); });
  queue_.visit(2 * look_ahead, [this](Event event) { prefetch_route<form>(kind_of(event), event & index_mask); });
  queue_.visit(look_ahead, [this](Event event) { prefetch_way<form>(kind_of(event), event & index_mask); });
}

template <Form form>
inline void Network::prefetch_record(Kind kind, std::uint32_t index) {
  if (kind == Kind::head) return prefetch_lane(index);
  if (kind == Kind::wake) return lanes_n<form>() == 1 ? prefetch_out<form>(index, index) : prefetch_port<form>(index);
  if (kind != Kind::host) return;
  prefetch_line(&senders_[index]);
  traffic_.prefetch(index);
}

/// A head's forwarding entry; the lane that a port will let across; an adapter's output.
template <Form form>
inline void Network::prefetch_route(Kind kind, std::uint32_t index) {
  if (kind == Kind::head) {
    const InLane& lane = lanes_[index];
    if (lane.row == nothing) return prefetch_sender<form>(index, lane);
    prefetch_line(forwarding_.table(lane.row) + lane.head.destination());
  } else if (kind == Kind::wake) {
    const OutPort& port = ports_[index];
    if (lanes_n<form>() > 1) {
      for (std::uint32_t wanted = port.lanes_wanted; wanted != 0; wanted &= wanted - 1)
        prefetch_line(&outs_[(index << lane_bits<form>()) + static_cast<std::uint32_t>(std::countr_zero(wanted))]);
    } else if (port.lanes_wanted != 0) {
      prefetch_lane(next_asking<form>(index, port, index, outs_[index]).lane);
    }
  } else if (kind == Kind::host) {
    const Sender& sender = senders_[index];
    const std::uint32_t lane = (sender.port << lane_bits<form>()) + sender.lane;
    prefetch_lane(lane);
    prefetch_out<form>(sender.port, lane);
    prefetch_line(&queued_flits_[std::size_t{index} * lanes_n<form>() + sender.lane]);
  }
}

/// A head's output, and what lies behind it.
template <Form form>
inline void Network::prefetch_way(Kind kind, std::uint32_t index) {
  if (kind == Kind::wake) {
    const OutPort& port = ports_[index];
    if (lanes_n<form>() > 1) return prefetch_chosen<form>(index, port);
    if (port.lanes_wanted == 0) return;
    const std::uint32_t asking = next_asking<form>(index, port, index, outs_[index]).lane;
    const InLane& lane = lanes_[asking];
    if (!port.is_switch) return prefetch_sender<form>(asking, lane);
    if (port.to_adapter()) packets_.prefetch(lane.head.index());
    prefetch_feeder<form>(lane);
  }
  if (kind != Kind::head) return;
  InLane& lane = lanes_[index];
  if (!lane.looked_up) look_up<form>(index, lane);
  if (lane.out == nothing) return;
  prefetch_out<form>(lane.out >> lane_bits<form>(), lane.out);
  if (peers_[lane.out] >= receiving_) packets_.prefetch(lane.head.index());
  prefetch_feeder<form>(lane);
}

/// What a packet that leaves an adapter changes there.
template <Form form>
inline void Network::prefetch_sender(std::uint32_t index, const InLane& lane) const {
  if (lane.feeder == nothing) return;
  prefetch_line(&senders_[lane.feeder]);
  prefetch_line(&queued_flits_[std::size_t{lane.feeder} * lanes_n<form>() + (index & lane_mask<form>())]);
}

/// The port that waits for the blocks of this lane's head.
template <Form form>
inline void Network::prefetch_feeder(const InLane& lane) const {
  if (lane.need == 0) return;
  prefetch_line(&ports_[lane.feeder >> lane_bits<form>()]);
  prefetch_line(&outs_[lane.feeder]);
}

inline void Network::prefetch_lane(std::uint32_t index) const {
  prefetch_line(&lanes_[index]);
  slots_.prefetch(index, usual_in_);
}

template <Form form>
inline void Network::prefetch_port(fabric::PortId index) const {
  prefetch_line(&ports_[index]);
  departures_.prefetch(index, usual_out_);
  if (lanes_n<form>() > 1) arbiter_.prefetch(index);
}

/// The lane whose turn it is, as far as it can be seen now, and the packet that asks for it.
template <Form form>
inline void Network::prefetch_chosen(fabric::PortId index, const OutPort& port) const {
  const std::uint32_t first = index << lane_bits<form>();
  const int chosen = arbiter_.expected(index, [&](std::uint32_t lane) {
    const OutLane& out = outs_[first + lane];
    return (port.lanes_wanted >> lane & 1) != 0 && (out.lacking == OutLane::none || out.credits_at <= port.wake);
  });
  if (chosen < 0) return;
  const std::uint32_t out = first + static_cast<std::uint32_t>(chosen);
  prefetch_lane(next_asking<form>(index, port, out, outs_[out]).lane);
  prefetch_peer<form>(out);
}

template <Form form>
inline void Network::prefetch_out(fabric::PortId index, std::uint32_t out) const {
  prefetch_port<form>(index);
  prefetch_line(&outs_[out]);
  prefetch_peer<form>(out);
}

template <Form form>
inline void Network::prefetch_peer(std::uint32_t out) const {
  const std::uint32_t peer = peers_[out];
  if (peer == nothing) return;
  prefetch_lane(peer);
  if (peer >= receiving_) statistics_.prefetch((peer - receiving_) >> lane_bits<form>());
}

// -------------------------------------------------------------------------------------------------- lanes and requests

template <Form form>
inline void Network::set_request(OutPort& port, std::uint32_t out, std::uint32_t request) {
  request_word(out, request) |= std::uint64_t{1} << (request & 63);
  if (outs_[out].waiting++ > 0) return;
  port.lanes_wanted |= static_cast<std::uint16_t>(1U << (out & lane_mask<form>()));
  const fabric::PortId index = out >> lane_bits<form>();
  asked_[index >> 6] |= std::uint64_t{1} << (index & 63);
}

/// A packet that the cable brings to a switch.
template <Form form>
[[gnu::always_inline]] inline void Network::append(std::uint32_t index, const Queued& packet) {
  if constexpr (form == Form::queues) index = queue_for(index, packet.destination());
  InLane& lane = lanes_[index];
  const bool first = !lane.occupied();
  slots_.push(lane.slots, Slot(packet));
  if (!first) return;
  lane.head = packet;
  expect_head<form>(index, lane);
}

/// The out lane that the tables send the head to; nothing: none.
template <Form form>
inline void Network::look_up(std::uint32_t index, InLane& lane) const {
  lane.looked_up = true;
  lane.out = nothing;
  const std::uint8_t number = forwarding_.out_port(lane.row, lane.head.destination());
  if (number == 0 || number > lane.node_ports) return;
  std::uint32_t vl = 0;
  if (form != Form::plain && maps_lanes_)
    vl = forwarding_.lane(lane.row, lane.number, number, static_cast<std::uint8_t>(lane.head.level()));
  else if (lanes_n<form>() > 1)
    vl = lane.head.level() % lanes_n<form>();
  if (vl < lanes_n<form>())
    lane.out = (((index >> lane_bits<form>()) - lane.number + number) << lane_bits<form>()) + vl;
}

/// The port that has to decide now; none when the packet is lost.
template <Form form>
fabric::PortId Network::came_to_head(std::uint32_t index) {
  InLane& lane = lanes_[index];
  const auto lost = [&](std::uint64_t& counter) {
    discard_head(index, counter);
    return fabric::none;
  };
  const std::uint32_t buffer = form == Form::queues ? buffer_of(index) : index;
  if (!lane.looked_up) look_up<form>(buffer, lane);
  if constexpr (form == Form::faulty) {
    if (std::uint64_t* counter = loss_of_head(index); counter != nullptr) return lost(*counter);
  }
  const std::uint32_t out = lane.out;
  if (out == nothing) return lost(record_.dropped_unroutable);
  OutPort& port = ports_[out >> lane_bits<form>()];
  if (port.link_flit_ps == 0) return lost(record_.dropped_unroutable);
  if (form != Form::plain && lifetime_ != never && lane.row != nothing) {
    if (stalled_until_[out] > now_) return lost(record_.dropped_stalled);
    live_on(index);
  }
  lane.waiting = true;
  if (form == Form::queues && withheld(index)) return fabric::none;
  set_request<form>(port, out, request_of<form>(buffer, lane));
  return out >> lane_bits<form>();
}

// --------------------------------------------------------------------------------------------------------- arbitration

template <Form form>
[[gnu::always_inline]] inline void Network::arbitrate(fabric::PortId index) {
  OutPort& port = ports_[index];
  std::uint32_t out = 0;
  Asking asking{};
  if (!decide<form>(index, port, out, asking)) return;
  send<form>(port, out, asking);
  if (port.lanes_wanted != 0) schedule(index, port, port.cross_free);
}

/// Whether a packet may go now, and which: on this out lane, the one that asks. Otherwise the port is woken when one
/// may, as far as that is known.
template <Form form>
[[gnu::always_inline]] inline bool Network::decide(fabric::PortId index, OutPort& port, std::uint32_t& out,
                                                   Asking& asking) {
  if (port.lanes_wanted == 0) return false;
  if (now_ < port.cross_free) return schedule(index, port, port.cross_free), false;
  Time wake = never;
  out = index << lane_bits<form>();
  if (form != Form::plain && lanes_n_ > 1) {
    const int lane = choose<form>(index, port, wake);
    if (lane >= 0) {
      out += static_cast<std::uint32_t>(lane);
      asking = next_asking<form>(index, port, out, outs_[out]);
      return true;
    }
  } else {
    asking = next_asking<form>(index, port, out, outs_[out]);
    if (may_send<form>(port, out, asking, wake)) return true;
  }
  if (wake != never) schedule(index, port, wake);
  return false;
}

/// The lane that sends now; -1: none may, and `wake` is when one will, as far as that is known.
template <Form form>
[[gnu::always_inline]] inline int Network::choose(fabric::PortId index, OutPort& port, Time& wake) {
  const std::uint32_t first = index << lane_bits_;
  const auto asking = [&](std::uint32_t lane) {
    return next_asking<form>(index, port, first + lane, outs_[first + lane]);
  };
  return arbiter_.choose(
      index,
      [&](std::uint32_t lane) {
        return (port.lanes_wanted >> lane & 1) != 0 && may_send<form>(port, first + lane, asking(lane), wake);
      },
      [&](int lane) {
        return static_cast<std::int32_t>(lanes_[asking(static_cast<std::uint32_t>(lane)).lane].head.flits());
      });
}

/// Whether the packet that asks for this lane has credits and room. Otherwise `wake` is brought forward to when
/// it will, or the lane at the other end is told what is needed, for give_back(). What was found lacking is not looked
/// at again before its time, for it takes three cache lines elsewhere.
template <Form form>
[[gnu::always_inline]] inline bool Network::may_send(OutPort& port, std::uint32_t out_index, Asking asking,
                                                     Time& wake) {
  OutLane& out = outs_[out_index];
  std::uint32_t flits = out.flits;
  Time credit = out.credits_at;
  if (out.lacking != asking.request || credit <= now_) {
    flits = lanes_[asking.lane].head.flits();
    credit = credit_time<form>(port, out, flits);
    if (credit > now_) {
      out.lacking = static_cast<std::uint16_t>(asking.request);
      out.flits = static_cast<std::uint8_t>(flits);
      out.credits_at = credit;
      // Queues of one buffer return their blocks side by side, so that there a known time can be brought forward.
      if (credit == never || form == Form::queues) lanes_[out.peer].need = static_cast<std::uint8_t>(flits);
    }
  }
  if (credit == never) return false;
  const Time at = port.is_switch ? std::max(credit, room_time(port, flits)) : credit;
  if (at <= now_) return true;
  wake = std::min(wake, at);
  return false;
}

// ---------------------------------------------------------------------------------------------------- credits and room

/// The sender at the other end waits for credits of this lane's buffer, and some are known now.
template <Form form>
void Network::wake_feeder(InLane& lane) {
  if constexpr (form == Form::queues) return wake_feeder_of_queues(lane);
  const fabric::PortId index = lane.feeder >> lane_bits<form>();
  OutPort& port = ports_[index];
  const Time at = credit_time<form>(port, outs_[lane.feeder], lane.need);
  if (at == never) return;
  lane.need = 0;
  outs_[lane.feeder].lacking = OutLane::none;
  schedule(index, port, at);
}

/// When so many credits are there: a moment not after now if they are, `never` if no drain known by now returns enough.
template <Form form>
Time Network::credit_time(const OutPort& port, OutLane& out, std::uint32_t flits) {
  if (form == Form::queues && !port.to_adapter()) return credit_time_of_queues(port, out, flits);
  std::int32_t missing = static_cast<std::int32_t>(flits) - out.credits;
  InLane& peer = lanes_[out.peer];
  if (missing <= 0 && peer.left < 4) return now_;
  while (peer.left > 0) {
    const Drain oldest = slots_.oldest(peer.slots).drain();
    if (announced<form>(oldest.last(), port) > now_) break;
    out.credits += static_cast<std::int32_t>(oldest.flits());
    drop_slot(peer);
  }
  missing = static_cast<std::int32_t>(flits) - out.credits;
  if (missing <= 0) return now_;
  for (std::uint32_t i = 0; i < peer.left; ++i) {
    const Drain drain = slots_.at(peer.slots, i).drain();
    const auto held = static_cast<std::int32_t>(drain.flits());
    if (missing <= held)
      return announced<form>(block_leaves<form>(port, drain, static_cast<std::uint32_t>(missing - 1)), port);
    missing -= held;
  }
  return never;
}

/// When the output buffer has space for so many flits; it always will.
inline Time Network::room_time(OutPort& port, std::uint32_t flits) {
  if (port.held + flits <= parameters_.output_buffer) return now_;
  while (port.departures.count > 0) {
    const Departure& oldest = departures_.oldest(port.departures);
    if (oldest.end > now_) break;
    port.held = static_cast<std::uint16_t>(port.held - oldest.flits());
    departures_.pop(port.departures);
  }
  if (port.held + flits <= parameters_.output_buffer) return now_;
  std::uint32_t excess = port.held + flits - parameters_.output_buffer;
  for (std::uint32_t i = 0; i < port.departures.count; ++i) {
    const Departure& leaving = departures_.at(port.departures, i);
    if (excess <= leaving.flits()) return leaving.left(std::min(excess * flit_bytes, leaving.bytes));
    excess -= leaving.flits();
  }
  return now_;
}

// ------------------------------------------------------------------------------------------------------------- sending

template <Form form>
inline void Network::send(OutPort& port, std::uint32_t out_index, Asking asking) {
  OutLane& out = outs_[out_index];
  InLane& lane = lanes_[asking.lane];
  clear_request<form>(port, out_index, asking.request);
  out.turn = static_cast<std::uint16_t>(asking.request);
  out.drops = 0;
  const Queued packet = take_head(lane);
  const std::uint32_t bytes = packet.bytes();
  const std::uint32_t flits = flits_of(bytes);
  out.credits -= static_cast<std::int32_t>(flits);
  if constexpr (form == Form::queues) lanes_[out.peer].need = 0;
  ++record_.packet_hops;

  Time start = now_;
  if (port.is_switch) {
    const Crossing crossing =
        cross(now_, bytes, packet.ready, pace_in<form>(lane, packet), port.crossbar(), port.link(), port.link_free);
    start = crossing.start;
    port.link_free = start + port.link().of(bytes);
    departures_.push(port.departures, {port.link_free, bytes, port.link_flit_ps});
    port.held = static_cast<std::uint16_t>(port.held + flits);
    port.cross_free = lane.free_at = crossing.crossed;
    const Drain drain = Drain::from_switch(crossing, now_, packet.ready, bytes, number_of_pace<form>(packet));
    if (form == Form::queues && is_queue(asking.lane)) {
      leave_queue(lane, drain);
      begin_to_send(asking.lane, port, crossing.crossed);
    } else {
      give_back<form>(lane, drain);
    }
    if (lane.occupied()) expect_head<form>(asking.lane, lane);
  } else {
    port.cross_free = port.link_free = lane.free_at = now_ + port.link().of(bytes);
    Sender& sender = senders_[lane.feeder];
    queued_flits_[std::size_t{lane.feeder} * lanes_n<form>() + (asking.lane & lane_mask<form>())] -= flits;
    if (sender.state == Sender::State::waiting_for_room) ask_again(lane.feeder, now_);
    drop_slot(lane);
    if (lane.occupied()) queue_.push(forward_time<form>(lane), event(Kind::head, asking.lane));
  }
  if constexpr (form == Form::faulty) {
    travels(port, packet, start, start + port.propagation + port.link().of(bytes));
    if (!port.is_switch) left_adapter(packet);
  }
  arrive<form>(port, out, packet, start + port.propagation);
}

/// The head of a packet comes to the other end of a cable at `head`.
template <Form form>
inline void Network::arrive(OutPort& port, const OutLane& out, Queued packet, Time head) {
  if (!port.to_adapter()) {
    packet.ready = head + latency_;
    return append<form>(out.peer, packet);
  }
  Time& free = statistics_.memory_free(port.host);
  const Time begun = std::max(head + port.link().of(packet.bytes()), free);
  free = hiccup_.after(begun, pcie_.of(packet.bytes()));
  InLane& buffer = lanes_[out.peer];
  slots_.push(buffer.slots, Slot(Drain::to_memory(begun, free, packet.flits())));
  ++buffer.left;
  if constexpr (form == Form::faulty) return queue_.push(free, event(Kind::arrived, packet.index()));
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
  if (watches_) announce({host, record.tag}, at);
}

// What the other files call.
template fabric::PortId Network::came_to_head<Form::general>(std::uint32_t);
template fabric::PortId Network::came_to_head<Form::faulty>(std::uint32_t);
template void Network::wake_feeder<Form::general>(InLane&);
template void Network::wake_feeder<Form::faulty>(InLane&);
template Time Network::credit_time<Form::general>(const OutPort&, OutLane&, std::uint32_t);
template Time Network::credit_time<Form::faulty>(const OutPort&, OutLane&, std::uint32_t);
template bool Network::decide<Form::queues>(fabric::PortId, OutPort&, std::uint32_t&, Asking&);
template void Network::send<Form::queues>(OutPort&, std::uint32_t, Asking);
template void Network::set_request<Form::queues>(OutPort&, std::uint32_t, std::uint32_t);

}  // namespace holdfast::simulate
