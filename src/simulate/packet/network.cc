#include "simulate/packet/network.h"

#include <algorithm>
#include <bit>

#include "core/stats/distribution.h"

namespace holdfast::simulate {

template <class T>
Ring RingPool<T>::make(std::uint32_t capacity) {
  const std::uint32_t size = std::bit_ceil(capacity);
  Ring ring;
  ring.first = static_cast<std::uint32_t>(pool_.size());
  ring.mask = static_cast<std::uint16_t>(size - 1);
  pool_.resize(pool_.size() + size);
  return ring;
}

template <class T>
void RingPool<T>::grow(Ring& ring) {
  Ring larger = make((std::uint32_t{ring.mask} + 1) * 2);
  for (std::uint32_t i = 0; i < ring.count; ++i) pool_[larger.first + i] = at(ring, i);
  larger.count = ring.count;
  ring = larger;
}

// ---------------------------------------------------------------------------------------------------------- building

namespace {

/// A width that puts some 16 events into a bucket when every port is busy with packets of half a microsecond.
Time bucket_for(const fabric::Fabric& fabric) {
  const auto ports = static_cast<Time>(fabric.ports().size());
  return std::clamp<Time>(16 * 500'000 / std::max<Time>(1, ports), 64, 16'384);
}

}  // namespace

Network::Network(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding, const Parameters& parameters,
                 const Arbitration& arbitration, Traffic& traffic, const Control& control)
    : fabric_(fabric),
      forwarding_(forwarding),
      parameters_(parameters),
      arbitration_(arbitration),
      traffic_(traffic),
      control_(control),
      host_ports_(fabric),
      queue_(bucket_for(fabric), 8192),
      latency_(parameters.switch_latency_ns * ps_per_ns),
      update_(parameters.credit_update_ns * ps_per_ns),
      lifetime_(parameters.hoq_life_ps()),
      pcie_(pcie_pace(parameters.pcie_generation, parameters.pcie_lanes)),
      hiccup_(parameters.hiccup_period_ns * ps_per_ns, parameters.hiccup_ns * ps_per_ns) {
  lanes_n_ = std::max<std::uint32_t>(1, forwarding.lanes_used);
  lane_bits_ = static_cast<std::uint32_t>(std::bit_width(lanes_n_ - 1));
  lane_mask_ = (1U << lane_bits_) - 1;
  std::uint32_t most_ports = 1;
  for (const fabric::Node& node : fabric.nodes()) most_ports = std::max<std::uint32_t>(most_ports, node.port_count);
  stride_ = std::max<std::uint32_t>(6, static_cast<std::uint32_t>(std::bit_width(most_ports)));
  words_n_ = (lanes_n_ << stride_) / 64;
  fair_single_ = lanes_n_ == 1;
  watches_ = traffic.watches_deliveries();
  build_ports(fabric);
  build_hosts(fabric);
  const Time sample = parameters.sample_ns * ps_per_ns;
  next_check_ = parameters.deadlock_check_ns * ps_per_ns;
  next_control_ = std::min({sample, next_check_, control.limit});
}

void Network::build_ports(const fabric::Fabric& fabric) {
  const std::size_t count = fabric.ports().size();
  ports_.resize(count);
  lanes_.resize((count << lane_bits_));
  outs_.resize((count << lane_bits_));
  if (words_n_ > 1) words_.resize((std::size_t{count} << lane_bits_) * words_n_);
  std::vector<Pace> cross(fabric.nodes().size());
  for (const fabric::Link& link : fabric.links())
    for (const fabric::PortId end : {link.a, link.b}) {
      Pace& fastest = cross[fabric.port(end).node];
      const Pace pace = link_pace(link.rate);
      if (fastest.flit_ps == 0 || pace.flit_ps < fastest.flit_ps) fastest = pace;
    }
  for (Pace& pace : cross)
    pace.flit_ps = (pace.flit_ps * 100 + parameters_.crossbar_speedup - 1) / parameters_.crossbar_speedup;

  const std::uint32_t usual = (parameters_.input_buffer - 1) / flits_of(parameters_.mtu + header_bytes) + 1;
  for (fabric::PortId id = 0; id < count; ++id) {
    const fabric::NodeId node = fabric.port(id).node;
    Port& port = ports_[id];
    port.node = node;
    port.first_port = fabric.node(node).first_port;
    port.is_switch = fabric.is_switch(node);
    port.cross = cross[node];
    const fabric::PortId peer = fabric.peer(id);
    if (peer == fabric::none) continue;
    const fabric::Link& link = fabric.link(fabric.port(id).link);
    port.link = link_pace(link.rate);
    const double metres = link.length_m > 0 ? link.length_m : parameters_.cable_length;
    port.propagation = static_cast<Time>(metres * static_cast<double>(parameters_.propagation_ps) + 0.5);
    port.peer_cross = cross[fabric.port(peer).node];
    port.departures = departures_.make(4);
    if (!arbitration_.high.empty()) port.high_left = arbitration_.high.front().weight;
    if (!arbitration_.low.empty()) port.low_left = arbitration_.low.front().weight;
    for (std::uint32_t vl = 0; vl < lanes_n_; ++vl) {
      OutLane& out = outs_[(id << lane_bits_) + vl];
      out.credits = static_cast<std::int32_t>(parameters_.input_buffer);
      out.drains = drains_.make(usual);
      out.turn = static_cast<std::uint16_t>((lanes_n_ << stride_) - 1);
      if (fabric.is_switch(fabric.port(peer).node)) out.peer = (peer << lane_bits_) + vl;
      Lane& lane = lanes_[(id << lane_bits_) + vl];
      lane.feeder = port.is_switch ? (peer << lane_bits_) + vl : nothing;
      lane.in_flit_ps = port.is_switch ? static_cast<std::uint32_t>(port.link.flit_ps) : 0;
      lane.row = port.is_switch ? forwarding_.row_of(node) : nothing;
      lane.first_port = port.first_port;
      lane.node_ports = fabric.node(node).port_count;
      lane.number = fabric.number_of(id);
      lane.lane = static_cast<std::uint8_t>(vl);
    }
  }
}

void Network::build_hosts(const fabric::Fabric& fabric) {
  hosts_.resize(host_ports_.count());
  for (std::uint32_t index = 0; index < hosts_.size(); ++index) {
    Host& host = hosts_[index];
    host.port = host_ports_.ports[index];
    host.lid = host_ports_.lids[index];
    ports_[host.port].host = index;
    const fabric::PortId peer = fabric.peer(host.port);
    if (peer == fabric::none) continue;
    ports_[peer].sink = index;
    const fabric::NodeId node = fabric.port(peer).node;
    if (fabric.is_switch(node)) host.row = forwarding_.row_of(node);
  }
}

// ------------------------------------------------------------------------------------------------------------ events

Record Network::run() {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) ask_again(host, 0);
  std::uint32_t instants = 0;
  while (!over_) {
    if (!queue_.next_instant()) {
      end_of_events();
      break;
    }
    if (queue_.now() >= next_control_ && control_point() == Verdict::end) break;
    now_ = queue_.now();
    if (queue_.bucket_begins()) prefetch();
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

/// A bucket of events has its turn: asks the memory for what they will touch, all at once. Without it, at 2,000 hosts
/// every event waits for several cache lines one after another.
void Network::prefetch() const {
  const auto due = queue_.bucket();
  for (const EventQueue::Entry entry : due) {
    const Event event = EventQueue::event_of(entry);
    const std::uint32_t index = event & 0x1fffffff;
    switch (static_cast<Kind>(event >> 29)) {
      case Kind::head:
        __builtin_prefetch(&lanes_[index], 1);
        break;
      case Kind::wake:
        __builtin_prefetch(&ports_[index], 1);
        __builtin_prefetch(&outs_[index << lane_bits_], 1);
        break;
      default:
        break;
    }
  }
  for (const EventQueue::Entry entry : due) {
    const Event event = EventQueue::event_of(entry);
    if (static_cast<Kind>(event >> 29) != Kind::head) continue;
    const Lane& lane = lanes_[event & 0x1fffffff];
    __builtin_prefetch(&packets_[lane.head], 1);
    if (lane.head_out == nothing) continue;
    __builtin_prefetch(&outs_[lane.head_out], 1);
    __builtin_prefetch(&ports_[lane.head_out >> lane_bits_], 1);
    if (lane.feeder != nothing) __builtin_prefetch(&outs_[lane.feeder], 1);
  }
}

void Network::handle(Event event) {
  const std::uint32_t index = event & 0x1fffffff;
  switch (static_cast<Kind>(event >> 29)) {
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

void Network::mark(fabric::PortId port) {
  if (ports_[port].marked) return;
  ports_[port].marked = true;
  marked_.push_back(port);
}

/// At a moment after now. A later event that stands already goes stale.
void Network::schedule(fabric::PortId port, Time at) {
  Port& known = ports_[port];
  if (known.wake <= at) return;
  known.wake = at;
  queue_.push(at, event(Kind::wake, port));
}

// ------------------------------------------------------------------------------------------------- lanes and requests

std::uint32_t Network::take_packet() {
  if (free_packet_ == nothing) {
    packets_.emplace_back();
    return static_cast<std::uint32_t>(packets_.size() - 1);
  }
  const std::uint32_t taken = free_packet_;
  free_packet_ = packets_[taken].next;
  return taken;
}

void Network::free_packet(std::uint32_t packet) {
  packets_[packet].next = free_packet_;
  free_packet_ = packet;
}

std::uint32_t Network::lane_of(const Port& port, std::uint32_t request) const {
  const std::uint32_t number = request & ((1U << stride_) - 1);
  return ((port.first_port + number) << lane_bits_) + (request >> stride_);
}

void Network::set_request(std::uint32_t out_index, std::uint32_t request, bool on) {
  OutLane& out = outs_[out_index];
  std::uint64_t& word = words_n_ == 1 ? out.requests : words_[std::size_t{out_index} * words_n_ + request / 64];
  const std::uint64_t bit = std::uint64_t{1} << (request & 63);
  word = on ? word | bit : word & ~bit;
  Port& port = ports_[(out_index >> lane_bits_)];
  const auto lane = static_cast<std::uint16_t>(1U << ((out_index & lane_mask_)));
  if (on) {
    ++out.waiting;
    port.lanes_wanted |= lane;
  } else if (--out.waiting == 0) {
    port.lanes_wanted = static_cast<std::uint16_t>(port.lanes_wanted & ~lane);
  }
}

/// The request after the last one served, in a circle. There is one.
std::uint32_t Network::next_request(const OutLane& out, std::size_t out_index) const {
  const std::uint64_t* words = words_n_ == 1 ? &out.requests : &words_[out_index * words_n_];
  const std::uint32_t from = out.turn + 1U;
  const std::uint32_t first = from / 64 % words_n_;
  const std::uint64_t later = from % 64 == 0 ? ~0ULL : ~0ULL << (from % 64);
  if (const std::uint64_t bits = words[first] & later; bits != 0)
    return first * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  for (std::uint32_t step = 1; step <= words_n_; ++step) {
    const std::uint32_t word = (first + step) % words_n_;
    if (words[word] != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(words[word]));
  }
  return 0;
}

void Network::append(std::uint32_t index, std::uint32_t packet) {
  Lane& lane = lanes_[index];
  packets_[packet].next = nothing;
  if (lane.head != nothing) {
    packets_[lane.tail].next = packet;
    lane.tail = packet;
    return;
  }
  lane.head = lane.tail = packet;
  next_head(index);
}

/// Sees to it that the head of a lane comes forward: when the packet before it has left wholly and its own first flit
/// has come through the switch.
void Network::next_head(std::uint32_t index) {
  Lane& lane = lanes_[index];
  if (lane.head == nothing) return;
  const Packet& packet = packets_[lane.head];
  lane.head_flits = static_cast<std::uint16_t>(flits_of(packet.bytes));
  lane.head_out = route(lane, packet);
  const Pace in{lane.in_flit_ps};
  const Time at = std::max(lane.free_at, packet.ready + in.of(std::min<std::uint32_t>(packet.bytes, flit_bytes)));
  if (at <= now_)
    came_to_head(index);
  else
    queue_.push(at, event(Kind::head, index));
}

/// The out lane that the tables send this packet to; nothing: none.
std::uint32_t Network::route(const Lane& lane, const Packet& packet) const {
  if (lane.row == nothing) return ((lane.first_port + lane.number) << lane_bits_) + lane.lane;
  const std::uint8_t number = forwarding_.out_port(lane.row, packet.destination);
  if (number == 0 || number > lane.node_ports) return nothing;
  const std::uint32_t vl = forwarding_.has_lane_maps() ? forwarding_.lane(lane.row, lane.number, number, packet.level)
                                                       : packet.level % lanes_n_;
  return vl >= lanes_n_ ? nothing : ((lane.first_port + number) << lane_bits_) + vl;
}

void Network::came_to_head(std::uint32_t index) {
  Lane& lane = lanes_[index];
  const std::uint32_t out = lane.head_out;
  if (out == nothing || ports_[out >> lane_bits_].link.flit_ps == 0)
    return discard_head(index, record_.dropped_unroutable);
  if (lifetime_ != never && lane.row != nothing) {
    if (outs_[out].stalled_until > now_) return discard_head(index, record_.dropped_stalled);
    lane.head_since = now_;
    if (!lane.timer) {
      lane.timer = true;
      queue_.push(now_ + lifetime_, event(Kind::timer, index));
    }
  }
  lane.out = out;
  set_request(out, (std::uint32_t{lane.lane} << stride_) + lane.number, true);
  mark(out >> lane_bits_);
}

/// Takes the head off; what follows it is the caller's to bring forward with next_head().
std::uint32_t Network::take_head(Lane& lane) {
  const std::uint32_t packet = lane.head;
  lane.head = packets_[packet].next;
  lane.out = nothing;
  return packet;
}

// -------------------------------------------------------------------------------------------------------- arbitration

void Network::arbitrate(fabric::PortId index) {
  Port& port = ports_[index];
  if (port.lanes_wanted == 0) return;
  if (now_ < port.cross_free) return schedule(index, port.cross_free);
  Time wake = never;
  std::uint8_t lane = 0;
  if (choose(index, wake, lane)) {
    send(index, lane);
    if (port.lanes_wanted != 0) schedule(index, port.cross_free);
  } else if (wake != never) {
    schedule(index, wake);
  }
}

/// Whether the packet whose turn it is on this lane has credits and room. Otherwise `wake` is brought forward to when
/// it will, or the lane says what it needs, for give_back().
bool Network::may_send(Port& port, OutLane& out, Time& wake) {
  if (out.waiting == 0) return false;
  const std::uint32_t request = next_request(out, static_cast<std::size_t>(&out - outs_.data()));
  const std::uint32_t flits = lanes_[lane_of(port, request)].head_flits;
  const Time credit = credit_time(port, out, flits, now_);
  if (credit == never) {
    out.need = flits;
    return false;
  }
  const Time at = port.is_switch ? std::max(credit, room_time(port, flits, now_)) : credit;
  if (at <= now_) return true;
  wake = std::min(wake, at);
  return false;
}

/// The entry that may send: the current one while it has weight left, otherwise the next with any. The table's size
/// when none may.
std::uint32_t Network::choose_from(fabric::PortId index, const std::vector<Arbitration::Entry>& table, std::uint32_t at,
                                   std::int32_t left, Time& wake) {
  Port& port = ports_[index];
  const auto size = static_cast<std::uint32_t>(table.size());
  auto may = [&](std::uint32_t entry) {
    const std::uint32_t lane = table[entry].lane;
    return table[entry].weight > 0 && (port.lanes_wanted >> lane & 1) != 0 &&
           may_send(port, outs_[(index << lane_bits_) + lane], wake);
  };
  if (size == 0 || port.lanes_wanted == 0) return size;
  if (left > 0 && may(at)) return at;
  for (std::uint32_t step = 1; step <= size; ++step)
    if (may((at + step) % size)) return (at + step) % size;
  return size;
}

bool Network::choose(fabric::PortId index, Time& wake, std::uint8_t& lane) {
  Port& port = ports_[index];
  if (fair_single_) {
    lane = 0;
    return may_send(port, outs_[index], wake);
  }
  auto blocks = [&](std::uint8_t chosen) {
    const std::size_t out = (index << lane_bits_) + chosen;
    return static_cast<std::int32_t>(lanes_[lane_of(port, next_request(outs_[out], out))].head_flits);
  };
  auto use = [&](const std::vector<Arbitration::Entry>& table, std::uint32_t entry, std::uint32_t& at,
                 std::int32_t& left) {
    if (entry != at || left <= 0) left = table[entry].weight;
    at = entry;
    lane = table[entry].lane;
    left -= blocks(lane);
  };
  const auto high_end = static_cast<std::uint32_t>(arbitration_.high.size());
  const auto low_end = static_cast<std::uint32_t>(arbitration_.low.size());
  const std::int32_t limit = std::max(1, arbitration_.high_limit * 64);
  const bool limited = arbitration_.high_limit != Arbitration::no_limit && port.high_sent >= limit;
  const std::uint32_t high = choose_from(index, arbitration_.high, port.high_at, port.high_left, wake);
  if (high != high_end && !limited) {
    use(arbitration_.high, high, port.high_at, port.high_left);
    port.high_sent += blocks(lane);
    return true;
  }
  const std::uint32_t low = choose_from(index, arbitration_.low, port.low_at, port.low_left, wake);
  if (low != low_end) {
    use(arbitration_.low, low, port.low_at, port.low_left);
    port.high_sent = 0;
    return true;
  }
  if (high == high_end) return false;
  use(arbitration_.high, high, port.high_at, port.high_left);
  return true;
}

// ------------------------------------------------------------------------------------------------------- closed forms

/// When block `block` of a packet leaves the buffer that `port` leads to.
Time Network::block_leaves(const Port& port, const Drain& drain, std::uint32_t block) const {
  if (block + 1 == drain.flits) return drain.last;
  const Time blocks = block + 1;
  if (port.sink != nothing)
    return hiccup_.after(drain.begun, pcie_.of(static_cast<std::uint64_t>(blocks) * flit_bytes));
  return std::max(drain.begun + blocks * port.peer_cross.flit_ps,
                  drain.ready + blocks * port.link.flit_ps + port.peer_cross.flit_ps);
}

/// When the sender knows of it.
Time Network::announced(Time freed, const Port& port) const {
  const Time told = update_ == 0 ? freed : (freed + update_ - 1) / update_ * update_;
  return told + port.propagation;
}

/// When so many credits are there: a moment not after now if they are, `never` if no drain known by now returns enough.
Time Network::credit_time(const Port& port, OutLane& out, std::uint32_t flits, Time now) {
  while (out.drains.count > 0) {
    const Drain& oldest = drains_.at(out.drains, 0);
    if (announced(oldest.last, port) > now) break;
    out.credits += static_cast<std::int32_t>(oldest.flits);
    drains_.pop(out.drains);
  }
  std::int32_t missing = static_cast<std::int32_t>(flits) - out.credits;
  if (missing <= 0) return now;
  for (std::uint32_t i = 0; i < out.drains.count; ++i) {
    const Drain& drain = drains_.at(out.drains, i);
    const auto held = static_cast<std::int32_t>(drain.flits);
    if (missing <= held) return announced(block_leaves(port, drain, static_cast<std::uint32_t>(missing - 1)), port);
    missing -= held;
  }
  return never;
}

/// When the output buffer has space for so many flits; it always will.
Time Network::room_time(Port& port, std::uint32_t flits, Time now) {
  std::uint32_t held = 0;
  while (port.departures.count > 0) {
    const Departure& oldest = departures_.at(port.departures, 0);
    if (oldest.start + port.link.of(oldest.bytes) > now) break;
    departures_.pop(port.departures);
  }
  for (std::uint32_t i = 0; i < port.departures.count; ++i) held += departures_.at(port.departures, i).flits;
  if (held + flits <= parameters_.output_buffer) return now;
  std::uint32_t excess = held + flits - parameters_.output_buffer;
  for (std::uint32_t i = 0; i < port.departures.count; ++i) {
    const Departure& leaving = departures_.at(port.departures, i);
    if (excess <= leaving.flits) return leaving.start + port.link.of(std::min(excess * flit_bytes, leaving.bytes));
    excess -= leaving.flits;
  }
  return now;
}

/// When the last flit has crossed to the output buffer, and when the link may `start`: early enough to lose nothing,
/// late enough that every flit is there when its turn on the link comes, since a packet is never interrupted on a link.
Time Network::cross_switch(const Port& port, const Lane& lane, const Packet& packet, Time& start) {
  const std::uint32_t flits = flits_of(packet.bytes);
  if (flits == 1) {
    const Time crossed = now_ + port.cross.of(packet.bytes);
    start = std::max(port.link_free, crossed);
    return crossed;
  }
  const Time before = flits - 1;
  const std::uint32_t part = packet.bytes - (flits - 1) * flit_bytes;
  const Time cross = port.cross.flit_ps;
  const Time paced = now_ + before * cross;                            // by the crossbar
  const Time arrived = packet.ready + before * Time{lane.in_flit_ps};  // by the link: all flits but the last
  const Time last_begins = std::max(paced, arrived + std::max(Pace{lane.in_flit_ps}.of(part), cross));
  const Time last_crossed = last_begins + port.cross.of(part);
  const Time one_before_crossed = std::max(paced, arrived + cross);
  start = std::max({port.link_free, now_ + cross, one_before_crossed - (before - 1) * port.link.flit_ps,
                    last_crossed - before * port.link.flit_ps});
  return last_crossed;
}

// ------------------------------------------------------------------------------------------------------------ sending

void Network::send(fabric::PortId index, std::uint8_t vl) {
  Port& port = ports_[index];
  const std::uint32_t out_index = (index << lane_bits_) + vl;
  OutLane& out = outs_[out_index];
  const std::uint32_t request = next_request(out, out_index);
  const std::uint32_t lane_index = lane_of(port, request);
  Lane& lane = lanes_[lane_index];
  set_request(out_index, request, false);
  out.turn = static_cast<std::uint16_t>(request);
  out.drops = 0;
  const std::uint32_t packet_index = take_head(lane);
  Packet& packet = packets_[packet_index];
  const std::uint32_t flits = flits_of(packet.bytes);
  out.credits -= static_cast<std::int32_t>(flits);
  ++record_.packet_hops;

  Time start = now_;
  if (port.is_switch) {
    const Time crossed = cross_switch(port, lane, packet, start);
    departures_.push(port.departures, {start, packet.bytes, flits});
    port.cross_free = lane.free_at = crossed;
    port.link_free = start + port.link.of(packet.bytes);
    give_back(lane.feeder, {now_, packet.ready, crossed, flits});
  } else {
    port.cross_free = port.link_free = lane.free_at = now_ + port.link.of(packet.bytes);
    lane.queued -= flits;
    if (hosts_[port.host].state == Host::State::waiting_for_room) ask_again(port.host, now_);
  }
  next_head(lane_index);
  arrive(port, out, packet_index, start + port.propagation);
}

/// Credits of a buffer go back to the port at the other end of its cable.
void Network::give_back(std::uint32_t feeder, const Drain& drain) {
  OutLane& out = outs_[feeder];
  drains_.push(out.drains, drain);
  if (out.need == 0) return;
  const fabric::PortId port = (feeder >> lane_bits_);
  const Time at = credit_time(ports_[port], out, out.need, now_);
  if (at == never) return;
  out.need = 0;
  schedule(port, at);
}

void Network::arrive(Port& port, OutLane& out, std::uint32_t index, Time head) {
  Packet& packet = packets_[index];
  if (out.peer != nothing) {
    packet.ready = head + latency_;
    return append(out.peer, index);
  }
  Host& host = hosts_[port.sink];
  const Time begun = std::max(head + port.link.of(packet.bytes), host.memory_free);
  host.memory_free = hiccup_.after(begun, pcie_.of(packet.bytes));
  drains_.push(out.drains, {begun, 0, host.memory_free, flits_of(packet.bytes)});
  if (packet.destination != host.lid) return forget(index, record_.dropped_unroutable);
  in_memory(port.sink, packet, host.memory_free);
  --in_flight_;
  free_packet(index);
}

// ------------------------------------------------------------------------------------------------------------ lifetime

/// A packet that will not be delivered.
void Network::forget(std::uint32_t index, std::uint64_t& counter) {
  const Packet& packet = packets_[index];
  damaged_.insert((std::uint64_t{packet.source} << 32) | packet.message);
  ++counter;
  --in_flight_;
  free_packet(index);
}

/// The head of a switch's input lane drains into nothing, at the crossbar's speed.
void Network::discard_head(std::uint32_t index, std::uint64_t& counter) {
  Lane& lane = lanes_[index];
  if (lane.out != nothing) set_request(lane.out, (std::uint32_t{lane.lane} << stride_) + lane.number, false);
  const std::uint32_t taken = take_head(lane);
  Time start = 0;
  Port nowhere;
  nowhere.cross = ports_[lane.first_port + lane.number].cross;
  lane.free_at = cross_switch(nowhere, lane, packets_[taken], start);
  give_back(lane.feeder, {now_, packets_[taken].ready, lane.free_at, flits_of(packets_[taken].bytes)});
  forget(taken, counter);
  next_head(index);
}

void Network::lifetime_over(std::uint32_t index) {
  Lane& lane = lanes_[index];
  lane.timer = false;
  if (lane.out == nothing) return;
  if (now_ < lane.head_since + lifetime_) {
    lane.timer = true;
    return queue_.push(lane.head_since + lifetime_, event(Kind::timer, index));
  }
  const std::uint32_t out = lane.out;
  mark((out >> lane_bits_));
  discard_head(index, record_.dropped_lifetime);
  if (parameters_.vl_stall > 0 && ++outs_[out].drops >= parameters_.vl_stall) stall(out);
}

/// So many drops in a row: for 8 lifetimes the lane drops everything at once.
void Network::stall(std::uint32_t out_index) {
  OutLane& out = outs_[out_index];
  out.drops = 0;
  out.stalled_until = now_ + 8 * lifetime_;
  const Port& port = ports_[(out_index >> lane_bits_)];
  while (out.waiting > 0) discard_head(lane_of(port, next_request(out, out_index)), record_.dropped_stalled);
}

// --------------------------------------------------------------------------------------------------------------- hosts

void Network::ask_again(std::uint32_t index, Time at) {
  Host& host = hosts_[index];
  host.state = Host::State::ready;
  host.due = at;
  queue_.push(at, event(Kind::host, index));
}

void Network::host_event(std::uint32_t index) {
  Host& host = hosts_[index];
  if (host.due != now_) return;
  host.due = never;
  if (host.state == Host::State::fetching && host.packet != nothing) {
    const std::uint32_t packet = host.packet;
    host.packet = nothing;
    packets_[packet].ready = now_;
    append((host.port << lane_bits_) + host.lane, packet);
  }
  if (host.state == Host::State::fetching && host.has_message && host.rest == 0) {
    host.has_message = false;
    traffic_.sent(index, host.message.tag, now_);
  }
  host.state = Host::State::ready;
  begin_fetch(index);
}

void Network::begin_fetch(std::uint32_t index) {
  Host& host = hosts_[index];
  if (!host.has_message && !begin_message(index)) return;
  const auto payload = static_cast<std::uint32_t>(std::min<std::uint64_t>(host.rest, parameters_.mtu));
  const std::uint32_t bytes = payload + header_bytes;
  Lane& lane = lanes_[(host.port << lane_bits_) + host.lane];
  if (lane.queued + flits_of(bytes) > parameters_.input_buffer) {
    host.state = Host::State::waiting_for_room;
    return;
  }
  lane.queued += flits_of(bytes);
  host.rest -= payload;
  host.packet = take_packet();
  packets_[host.packet] = {host.message.created,
                           now_,
                           0,
                           nothing,
                           host_ports_.lids[host.message.destination],
                           index,
                           host.message.tag,
                           host.messages,
                           static_cast<std::uint16_t>(bytes),
                           host.level,
                           host.rest == 0};
  ++in_flight_;
  ++record_.packets_sent;
  host.state = Host::State::fetching;
  host.due = hiccup_.after(now_, pcie_.of(bytes));
  queue_.push(host.due, event(Kind::host, index));
}

/// True when there is a packet to fetch now. Otherwise the host has been told when to try again.
bool Network::begin_message(std::uint32_t index) {
  Host& host = hosts_[index];
  Traffic::Message& message = host.message;
  switch (traffic_.next(index, now_, message)) {
    case Traffic::Answer::none:
      host.state = Host::State::silent;
      return false;
    case Traffic::Answer::later:
      ask_again(index, std::max(message.created, now_ + 1));
      host.state = Host::State::later;
      return false;
    case Traffic::Answer::send:
      break;
  }
  ++host.messages;
  ++record_.messages_sent;
  record_.payload_bytes_sent += message.bytes;
  host.rest = message.bytes;
  host.has_message = true;
  if (message.destination == index) {  // through memory alone
    const Time end = hiccup_.after(now_, pcie_.of(message.bytes + header_bytes));
    ++record_.messages_delivered;
    record_.payload_bytes_delivered += message.bytes;
    host.delivered += message.bytes;
    host.samples.add(end, message.bytes, parameters_.sample_ns * ps_per_ns);
    message_latency_.add(end - message.created);
    record_.completion_ps = std::max(record_.completion_ps, end);
    if (watches_) announce(index, message.tag, end);
    skip_message(host, index, message.bytes);
    return false;
  }
  const fabric::Lid lid = host_ports_.lids[message.destination];
  std::uint8_t level = 0;
  if (host.row != nothing) level = forwarding_.service_level(host.row, host.lid, lid);
  if (level == fabric::Forwarding::no_path || ports_[host.port].link.flit_ps == 0) {
    ++record_.unroutable_messages;
    skip_message(host, index, 0);
    return false;
  }
  host.level = level;
  host.lane = static_cast<std::uint8_t>(level % lanes_n_);
  return true;
}

/// A message that does not enter the network takes its time on PCI Express all the same.
void Network::skip_message(Host& host, std::uint32_t index, std::uint64_t bytes) {
  host.rest = 0;
  host.packet = nothing;
  host.state = Host::State::fetching;
  host.due = hiccup_.after(now_, pcie_.of(bytes + header_bytes));
  queue_.push(host.due, event(Kind::host, index));
}

/// A packet's last byte will be in memory at `at`, which is now or later.
void Network::in_memory(std::uint32_t index, const Packet& packet, Time at) {
  Host& host = hosts_[index];
  const std::uint64_t payload = packet.bytes - header_bytes;
  ++record_.packets_delivered;
  packet_latency_.add(at - packet.fetched);
  if (control_.deliveries != nullptr) control_.deliveries->push_back({packet.source, index, packet.tag, at});
  record_.payload_bytes_delivered += payload;
  host.delivered += payload;
  host.samples.add(at, payload, parameters_.sample_ns * ps_per_ns);
  record_.completion_ps = std::max(record_.completion_ps, at);
  if (!packet.last || !whole(packet)) return;
  ++record_.messages_delivered;
  message_latency_.add(at - packet.created);
  if (watches_) announce(index, packet.tag, at);
}

/// False when a packet of this one's message was dropped; unreliable connections drop the message (InfiniBand
/// Architecture Specification 1.3, 9.8).
bool Network::whole(const Packet& packet) {
  return damaged_.empty() || damaged_.erase((std::uint64_t{packet.source} << 32) | packet.message) == 0;
}

void Network::announce(std::uint32_t host, std::uint32_t tag, Time at) {
  if (free_pending_.empty()) {
    free_pending_.push_back(static_cast<std::uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const std::uint32_t index = free_pending_.back();
  free_pending_.pop_back();
  pending_[index] = {host, tag};
  queue_.push(at, event(Kind::delivered, index));
}

void Network::delivered_event(std::uint32_t index) {
  const Pending pending = pending_[index];
  free_pending_.push_back(index);
  wake_.clear();
  traffic_.delivered(pending.host, pending.tag, now_, wake_);
  for (const std::uint32_t host : wake_)
    if (hosts_[host].state == Host::State::silent || hosts_[host].state == Host::State::later) ask_again(host, now_);
}

// ------------------------------------------------------------------------------------------------------------- control

/// Before the first event at or after next_control_: looks for an end. Works on the state before that event.
Network::Verdict Network::control_point() {
  const Time sample = parameters_.sample_ns * ps_per_ns;
  now_ = next_control_;
  if (now_ >= control_.limit)
    finish(Ending::limit);
  else if (now_ >= next_check_ && circle_found())
    finish(Ending::deadlock);
  else if (!traffic_.finite() && control_.until_steady && now_ % sample == 0 && steady())
    finish(Ending::steady);
  if (over_) return Verdict::end;
  // Moments at which nothing happens need no look: the next that matters is the last one before the event.
  const Time check = parameters_.deadlock_check_ns * ps_per_ns;
  const Time event = queue_.now();
  if (next_check_ <= now_) next_check_ = std::max(next_check_ + check, event / check * check);
  next_control_ =
      std::min({std::max(now_ / sample * sample + sample, event / sample * sample), next_check_, control_.limit});
  return next_control_ <= event ? control_point() : Verdict::go_on;
}

bool Network::steady() {
  const Time sample = parameters_.sample_ns * ps_per_ns;
  const std::int64_t count = Samples::closed(now_, sample);
  if (count < 10) return false;
  const double outside = (1 - parameters_.confidence / 100) / 2;
  const double quantile = stats::student_t_quantile(1 - outside, static_cast<double>(count - 1));
  std::uint64_t receiving = 0;
  std::uint64_t settled = 0;
  for (Host& host : hosts_) {
    if (!host.samples.received()) continue;
    ++receiving;
    host.samples.settle(now_, sample);
    if (host.samples.relative_half_width(count, quantile) * 100 <= parameters_.steady_width) ++settled;
  }
  if (receiving == 0) return false;
  record_.steady_share = static_cast<double>(settled) / static_cast<double>(receiving);
  return record_.steady_share * 100 >= parameters_.steady_hosts;
}

/// Nothing is due. Finite traffic that has all arrived is complete; what still waits waits for ever.
void Network::end_of_events() {
  if (in_flight_ == 0) return finish(traffic_.done() ? Ending::complete : Ending::stuck);
  describe_circle(find_circle());
  finish(record_.circle.empty() ? Ending::stuck : Ending::deadlock);
}

bool Network::circle_found() {
  const std::vector<std::uint32_t> circle = find_circle();
  if (circle.empty()) return false;
  if (record_.circle.empty()) describe_circle(circle);
  ++record_.deadlocks_seen;
  return lifetime_ == never;
}

/// The lanes of a circle of waiting, or nothing. A lane waits for another when the packet whose turn it is at its
/// output lacks credits that no known drain returns: then only the lane at the other end of the cable can give them.
/// Every lane waits for one other at most, so walking on from any of them ends or closes a circle.
std::vector<std::uint32_t> Network::find_circle() {
  std::vector<std::uint32_t> waits_for(lanes_.size(), nothing);
  for (std::uint32_t out_index = 0; out_index < outs_.size(); ++out_index) {
    OutLane& out = outs_[out_index];
    if (out.waiting == 0 || out.peer == nothing) continue;
    const Port& port = ports_[(out_index >> lane_bits_)];
    if (!port.is_switch) continue;
    const Lane& first = lanes_[lane_of(port, next_request(out, out_index))];
    if (credit_time(port, out, first.head_flits, now_) != never) continue;
    for (std::uint32_t request = 0; request < (lanes_n_ << stride_); ++request) {
      const std::uint64_t word =
          words_n_ == 1 ? out.requests : words_[std::size_t{out_index} * words_n_ + request / 64];
      if ((word >> (request & 63) & 1) != 0) waits_for[lane_of(port, request)] = out.peer;
    }
  }
  std::vector<std::uint32_t> visit(lanes_.size(), 0);
  for (std::uint32_t begin = 0; begin < lanes_.size(); ++begin) {
    std::uint32_t at = begin;
    while (at != nothing && visit[at] == 0) {
      visit[at] = begin + 1;
      at = waits_for[at];
    }
    if (at == nothing || visit[at] != begin + 1) continue;
    std::vector<std::uint32_t> circle{at};
    for (std::uint32_t next = waits_for[at]; next != at; next = waits_for[next]) circle.push_back(next);
    return circle;
  }
  return {};
}

void Network::describe_circle(const std::vector<std::uint32_t>& circle) {
  record_.circle.clear();
  for (const std::uint32_t index : circle) {
    const Lane& lane = lanes_[index];
    BlockedPort blocked;
    blocked.node = fabric_.node(ports_[lane.first_port].node).name;
    blocked.in_port = lane.number;
    blocked.in_lane = lane.lane;
    blocked.out_port = fabric_.number_of((lane.out >> lane_bits_));
    blocked.out_lane = static_cast<std::uint8_t>((lane.out & lane_mask_));
    for (std::uint32_t at = lane.head; at != nothing; at = packets_[at].next) ++blocked.packets;
    record_.circle.push_back(blocked);
  }
}

void Network::count_states() {
  for (fabric::PortId index = 0; index < ports_.size(); ++index) {
    Port& port = ports_[index];
    if (!port.is_switch || port.link.flit_ps == 0) continue;
    bool blocked = port.lanes_wanted != 0;
    for (std::uint32_t vl = 0; vl < lanes_n_; ++vl) {
      const std::uint32_t out = (index << lane_bits_) + vl;
      if (outs_[out].waiting == 0) continue;
      const Lane& first = lanes_[lane_of(port, next_request(outs_[out], out))];
      if (credit_time(port, outs_[out], first.head_flits, now_) != never) blocked = false;
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
  const Time sample = parameters_.sample_ns * ps_per_ns;
  const std::int64_t samples = Samples::closed(record_.end_ps, sample);
  const bool sampled = !traffic_.finite() && samples > 0;
  record_.measured_from_ps = sampled ? sample : 0;
  record_.measured_to_ps = sampled             ? (samples + 1) * sample
                           : traffic_.finite() ? record_.completion_ps
                                               : record_.end_ps;
  const double seconds =
      static_cast<double>(record_.measured_to_ps - record_.measured_from_ps) / static_cast<double>(ps_per_s);
  std::uint64_t receiving = 0;
  std::uint64_t total = 0;
  double least = 0;
  double most = 0;
  for (Host& host : hosts_) {
    if (host.delivered == 0) continue;
    host.samples.settle(record_.end_ps, sample);
    const std::uint64_t bytes = sampled ? host.samples.bytes() : host.delivered;
    const double rate = seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
    least = receiving == 0 ? rate : std::min(least, rate);
    most = std::max(most, rate);
    total += bytes;
    ++receiving;
  }
  record_.host_least_bytes_per_s = least;
  record_.host_most_bytes_per_s = most;
  if (seconds > 0) record_.throughput_bytes_per_s = static_cast<double>(total) / seconds;
  if (receiving > 0) record_.host_mean_bytes_per_s = record_.throughput_bytes_per_s / static_cast<double>(receiving);
  auto latency = [](const Histogram& all) {
    return Latency{all.count(), all.least(), all.percentile(0.5), all.percentile(0.99), all.most(), all.mean()};
  };
  record_.message_latency = latency(message_latency_);
  record_.packet_latency = latency(packet_latency_);
  record_.memory_bytes = memory();
  count_states();
}

std::uint64_t Network::memory() const {
  return sizeof(*this) + queue_.bytes() + packets_.capacity() * sizeof(Packet) + lanes_.capacity() * sizeof(Lane) +
         outs_.capacity() * sizeof(OutLane) + ports_.capacity() * sizeof(Port) + words_.capacity() * 8 +
         drains_.bytes() + departures_.bytes() + hosts_.capacity() * sizeof(Host) +
         marked_.capacity() * sizeof(fabric::PortId) + pending_.capacity() * sizeof(Pending);
}

}  // namespace holdfast::simulate
