#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/packet/parameters.h"

/// A plain simulation of the same network flit by flit, for tests: the oracle of network.h. It shares nothing with it
/// but the fabric, the tables and the values of the parameters. Every flit that arrives, crosses or leaves, and every
/// credit that returns, is an event of its own; buffers are counters that are checked at every step; at every moment at
/// which anything happened, every output port of the network arbitrates. Slow, and meant to be obviously right.
namespace holdfast::simulate::reference {

struct Sent {
  std::uint32_t source, destination, tag;
  std::uint64_t bytes;
  Time created;
};
struct Received {
  std::uint32_t source, destination, tag;
  Time at;
  auto operator<=>(const Received&) const = default;
};
/// lane:weight entries of an arbitration table, in blocks.
using Weights = std::vector<std::pair<std::uint32_t, int>>;
/// Both tables; low empty and high too: each lane in turn. So many blocks of high priority may pass a low one that
/// waits (one packet at least); below 0: any number.
struct Priorities {
  Weights high, low;
  int limit_blocks = 0;
};

/// What happens to the network meanwhile. Everything of a moment happens before anything else does.
struct Trouble {
  Time at;
  std::function<void()> happens;
};

class FlitNetwork {
 public:
  /// `flit_ps` by cable, `crossbar_ps` by node: the time of 64 bytes.
  FlitNetwork(const fabric::Fabric& fabric, const fabric::Forwarding& tables, const Parameters& parameters,
              std::vector<Time> flit_ps, std::vector<Time> crossbar_ps, Time pcie_flit_ps, Priorities priorities)
      : fabric_(fabric),
        tables_(tables),
        parameters_(parameters),
        pcie_flit_(pcie_flit_ps),
        priorities_(std::move(priorities)) {
    lanes_ = std::max<std::uint32_t>(1, tables.lanes_used);
    if (priorities_.low.empty() && priorities_.high.empty())
      for (std::uint32_t vl = 0; vl < lanes_; ++vl) priorities_.low.push_back({vl, 1});
    by_output_ = parameters.input_queues == InputQueues::output;
    ports_.resize(fabric.ports().size());
    for (fabric::PortId id = 0; id < ports_.size(); ++id) {
      Port& port = ports_[id];
      port.inputs.resize(lanes_);
      for (std::uint32_t vl = 0; vl < lanes_; ++vl) {
        port.inputs[vl].port = id;
        port.inputs[vl].lane = vl;
        port.inputs[vl].queues.resize(by_output_ ? fabric.node(fabric.port(id).node).port_count + std::size_t{1} : 1);
      }
      port.credits.assign(lanes_, static_cast<int>(parameters.input_buffer));
      port.served.assign(lanes_, -1);
      port.drops.assign(lanes_, 0);
      port.stalled.assign(lanes_, 0);
      if (!priorities_.high.empty()) port.high.left = priorities_.high[0].second;
      if (!priorities_.low.empty()) port.low.left = priorities_.low[0].second;
      port.peer = fabric.peer(id);
      port.is_switch = fabric.is_switch(fabric.port(id).node);
      if (port.peer == fabric::none) continue;
      const fabric::LinkId link = fabric.port(id).link;
      port.flit = flit_ps[link];
      const double metres = fabric.link(link).length_m > 0 ? fabric.link(link).length_m : parameters.cable_length;
      port.wire = static_cast<Time>(metres * static_cast<double>(parameters.propagation_ps) + 0.5);
      port.crossbar = crossbar_ps[fabric.port(id).node];
      if (!port.is_switch) {
        hosts_.push_back({});
        hosts_.back().port = id;
        port.host = static_cast<int>(hosts_.size() - 1);
      }
    }
  }

  /// A cable carries nothing between two moments; what is on it, or waits in the buffer before it, is lost.
  void cut(fabric::LinkId link, Time down, Time up) {
    const fabric::PortId a = fabric_.link(link).a, b = fabric_.link(link).b;
    troubles_.push_back({down, [this, a, b] { pull(ports_[a]), pull(ports_[b]); }});
    if (up != never) troubles_.push_back({up, [this, a, b] { --ports_[a].pulled, --ports_[b].pulled; }});
  }
  /// What a cable is given from a moment on takes so long for 64 bytes.
  void pace(Time when, fabric::LinkId link, Time flit_ps) {
    const fabric::PortId a = fabric_.link(link).a, b = fabric_.link(link).b;
    troubles_.push_back({when, [this, a, b, flit_ps] { ports_[a].flit = ports_[b].flit = flit_ps; }});
  }
  /// A switch sends this destination elsewhere from a moment on.
  void reroute(Time when, std::uint32_t row, fabric::Lid lid, int number) {
    troubles_.push_back({when, [this, row, lid, number] { changed_[{row, lid}] = number; }});
  }
  /// Whether the next packet that this port sends, so long and from this moment, is damaged.
  void disturb(std::function<bool(fabric::PortId, int, Time)> damages) { damages_ = std::move(damages); }
  void limit_hops(int hops) { hop_limit_ = hops; }

  void send(const Sent& message) { hosts_[message.source].todo.push_back(message); }

  /// All packets that arrived, and how many were dropped; stops when nothing can happen any more.
  std::vector<Received> run() {
    at(0, [] {});
    for (const Trouble& trouble : troubles_) at(trouble.at, [] {});
    while (!agenda_.empty()) {
      now_ = agenda_.begin()->first;
      for (Trouble& trouble : troubles_)
        if (trouble.at == now_) trouble.happens();
      while (!agenda_.empty() && agenda_.begin()->first == now_) {
        auto work = std::move(agenda_.begin()->second);
        agenda_.erase(agenda_.begin());
        for (auto& step : work) step();
      }
      for (Port& port : ports_)
        for (std::uint32_t vl = 0; vl < lanes_; ++vl)
          port.is_switch ? come_forward(port, vl) : lose_of_adapter(port, vl);
      for (Port& port : ports_)
        if (port.peer != fabric::none && !port.is_switch) match({&port});
      for (fabric::NodeId node = 0; node < fabric_.nodes().size(); ++node)
        if (fabric_.is_switch(node)) match(cabled_ports(node));
      for (Host& host : hosts_) try_fetch(host);
    }
    return received_;
  }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t flit_events() const { return flit_events_; }

 private:
  /// What befell a packet; its copies share it.
  struct Fate {
    bool cut = false;
    bool damaged = false;
    Time known = never;  // from when on its damage is known where it is
    int hops = 0;
  };
  struct Packet {
    std::shared_ptr<Fate> fate = std::make_shared<Fate>();
    std::uint32_t source, destination, tag;
    fabric::Lid lid;
    std::uint8_t level;
    int bytes;
    int flits;
    bool last;
    int size_of(int k) const { return k + 1 < flits ? 64 : bytes - 64 * (flits - 1); }
  };
  /// A packet in an input lane: its flits come in order, and become ready to cross after the switch's latency.
  struct Waiting {
    Packet packet;
    std::vector<Time> ready;  // by flit; known in advance, since a packet is never interrupted on a link
    bool crossing = false;
    bool forward = false;  // it is the head and its first flit is ready
    Time forward_since = 0;
    int route_port = 0;
    int route_lane = 0;
  };
  struct Queue {
    std::deque<Waiting> packets;
    bool busy = false;  // its head is leaving
  };
  /// A lane of an input port: one queue, or one for every number of an output port (0: packets without a route).
  struct Input {
    std::vector<Queue> queues;
    int held = 0;      // flits in the buffer
    int sending = 0;   // packets that cross
    int served = 255;  // the output that took a packet last
    fabric::PortId port = 0;
    std::uint32_t lane = 0;
  };
  struct Turn {
    int entry = 0;
    int left = 0;  // of its weight
  };
  struct Port {
    std::vector<Input> inputs;  // by lane
    std::vector<int> credits;   // for the peer's inputs
    std::vector<int> served;    // by lane: the input that sent last, as lane * 1000 + port number
    std::vector<int> drops;
    std::vector<Time> stalled;
    Turn high, low;
    int high_in_a_row = 0;  // blocks
    fabric::PortId peer = fabric::none;
    bool is_switch = false;
    Time flit = 0, wire = 0, crossbar = 0;
    bool crossing = false;
    Time link_free = 0;
    int reserved = 0;                            // flits of the output buffer
    int present = 0;                             // of those, flits that are there
    std::vector<std::pair<Input*, int>> rivals;  // inputs_of()
    int host = -1;
    int pulled = 0;                                               // how many reasons there are
    std::vector<std::pair<std::shared_ptr<Fate>, Time>> passing;  // and when their last bit is at the other end
  };
  struct Host {
    fabric::PortId port = 0;
    std::deque<Sent> todo;
    std::uint64_t done_bytes = 0;
    bool fetching = false;
    std::map<std::uint32_t, int> queued;  // flits, by lane
    bool draining = false;
    std::deque<std::pair<Packet, int>> arrived;  // and their lane
  };

  void at(Time when, std::function<void()> step) {
    if (when < now_) throw std::logic_error("an event in the past");
    agenda_[when].push_back(std::move(step));
  }
  void must(bool holds, const char* what) const {
    if (!holds) throw std::logic_error(std::string(what) + " at " + std::to_string(now_));
  }
  static Time part(Time flit, int bytes) {  // rounded up
    const Time whole = flit * bytes;
    return whole % 64 == 0 ? whole / 64 : whole / 64 + 1;
  }

  /// PCI Express, one piece of working time after another.
  Time pcie_after(Time start, Time work) const {
    const Time period = parameters_.hiccup_period_ns * 1000;
    const Time pause = parameters_.hiccup_ns * 1000;
    Time t = start;
    while (true) {
      const Time phase = t % period;
      if (phase < pause) t += pause - phase;
      const Time until_pause = pause == 0 ? work : period - t % period;
      if (work <= until_pause) return t + work;
      work -= until_pause;
      t += until_pause;
    }
  }

  // ------------------------------------------------------------------------------------------------------------
  // trouble
  void pull(Port& port) {
    ++port.pulled;
    for (auto& [fate, tail] : port.passing)
      if (tail > now_) fate->cut = true;
    port.passing.clear();
  }
  int out_of(std::uint32_t row, fabric::Lid lid) const {
    const auto found = changed_.find({row, lid});
    return found == changed_.end() ? tables_.out_port(row, lid) : found->second;
  }
  /// An adapter whose cable is out drops what it would send.
  void lose_of_adapter(Port& port, std::uint32_t vl) {
    if (port.pulled == 0) return;
    Queue& queue = port.inputs[vl].queues[0];
    while (!queue.packets.empty() && !queue.busy) {
      hosts_[static_cast<std::size_t>(port.host)].queued[vl] -= queue.packets.front().packet.flits;
      queue.packets.pop_front();
      ++dropped_;
    }
  }
  bool is_lost(const Fate& fate) const {
    return fate.cut || (fate.damaged && fate.known <= now_) || fate.hops >= hop_limit_;
  }

  // ------------------------------------------------------------------------------------------------- adapters, sending
  void try_fetch(Host& host) {
    if (host.fetching || host.todo.empty()) return;
    const Sent message = host.todo.front();
    if (message.created > now_) {
      at(message.created, [] {});
      return;
    }
    Packet packet;
    packet.source = message.source;
    packet.destination = message.destination;
    packet.tag = message.tag;
    packet.lid = fabric_.port(hosts_[message.destination].port).lid;
    const fabric::NodeId first = fabric_.port(ports_[host.port].peer).node;
    packet.level = tables_.service_level(tables_.row_of(first), fabric_.port(host.port).lid, packet.lid);
    const auto payload = std::min<std::uint64_t>(parameters_.mtu, message.bytes - host.done_bytes);
    packet.bytes = static_cast<int>(payload) + 26;
    packet.flits = (packet.bytes + 63) / 64;
    packet.last = host.done_bytes + payload == message.bytes;
    int& queued = host.queued[packet.level % lanes_];
    if (queued + packet.flits > static_cast<int>(parameters_.input_buffer)) return;
    queued += packet.flits;
    host.fetching = true;
    host.done_bytes += payload;
    at(pcie_after(now_, part(pcie_flit_, packet.bytes)), [this, &host, packet] {
      host.fetching = false;
      if (packet.last) {
        host.todo.pop_front();
        host.done_bytes = 0;
      }
      Waiting waiting;
      waiting.packet = packet;
      waiting.forward = true;
      ports_[host.port].inputs[packet.level % lanes_].queues[0].packets.push_back(waiting);
    });
  }

  // ------------------------------------------------------------------------------------------------------ arbitration
  /// Its own node's inputs, with their place in the order of turns; an adapter's own only.
  const std::vector<std::pair<Input*, int>>& inputs_of(Port& out) {
    if (!out.rivals.empty()) return out.rivals;
    const fabric::PortId id = static_cast<fabric::PortId>(&out - ports_.data());
    const fabric::Node& node = fabric_.node(fabric_.port(id).node);
    for (std::uint32_t vl = 0; vl < lanes_; ++vl)
      for (int number = 1; number <= node.port_count; ++number) {
        Port& in = ports_[node.first_port + static_cast<std::uint32_t>(number)];
        if (in.peer != fabric::none && (out.is_switch || &in == &out))
          out.rivals.push_back({&in.inputs[vl], static_cast<int>(vl) * 1000 + number});
      }
    return out.rivals;
  }

  fabric::PortId id_of(const Port& port) const { return static_cast<fabric::PortId>(&port - ports_.data()); }
  int number_of(const Port& port) const { return fabric_.number_of(id_of(port)); }

  /// The queue of an input that has what goes to this output.
  Queue& queue_to(Input& input, const Port& out) const {
    return input.queues[by_output_ && out.is_switch ? static_cast<std::size_t>(number_of(out)) : 0];
  }
  /// How many packets may leave an input at once.
  int most_sending() const {
    if (!by_output_) return 1;
    return parameters_.input_sends == 0 ? 1000 : static_cast<int>(parameters_.input_sends);
  }

  /// The input whose turn it is on this lane.
  std::pair<Input*, int> candidate(Port& out, std::uint32_t vl) {
    std::pair<Input*, int> first{nullptr, 0}, later{nullptr, 0};
    const fabric::PortId id = id_of(out);
    for (auto [input, key] : inputs_of(out)) {
      const Queue& queue = queue_to(*input, out);
      if (queue.packets.empty() || queue.busy || !queue.packets.front().forward) continue;
      if (input->sending >= most_sending()) continue;
      const Waiting& head = queue.packets.front();
      if (out.is_switch) {
        if (head.route_port != fabric_.number_of(id) || head.route_lane != static_cast<int>(vl)) continue;
      } else if (key / 1000 != static_cast<int>(vl)) {
        continue;
      }
      if (first.first == nullptr) first = {input, key};
      if (later.first == nullptr && key > out.served[vl]) later = {input, key};
    }
    return later.first != nullptr ? later : first;
  }

  bool eligible(Port& out, std::uint32_t vl) {
    auto [input, key] = candidate(out, vl);
    if (input == nullptr) return false;
    const int flits = queue_to(*input, out).packets.front().packet.flits;
    if (out.credits[vl] < flits) return false;
    return !out.is_switch || out.reserved + flits <= static_cast<int>(parameters_.output_buffer);
  }

  /// The entry of a table that sends next: the one that has weight left, else the next in turn; -1: none can.
  int pick(Port& out, const Weights& table, const Turn& turn) {
    const int size = static_cast<int>(table.size());
    for (int step = 0; step <= size && size > 0; ++step) {
      const int entry = (turn.entry + step) % size;
      const auto [vl, weight] = table[static_cast<std::size_t>(entry)];
      if (weight == 0 || (step == 0 && turn.left <= 0)) continue;
      if (eligible(out, vl)) return step == 0 ? entry : entry + size;  // + size: a new turn
    }
    return -1;
  }

  void take_turn(Port& out, const Weights& table, Turn& turn, int picked) {
    const int size = static_cast<int>(table.size());
    turn.entry = picked % size;
    const auto [vl, weight] = table[static_cast<std::size_t>(turn.entry)];
    if (picked >= size) turn.left = weight;
    auto [input, key] = candidate(out, vl);
    turn.left -= queue_to(*input, out).packets.front().packet.flits;
    out.served[vl] = key;
    out.drops[vl] = 0;
    grant(out, vl, *input);
  }

  /// What an output wants to let across: an entry of one of its tables, and the input whose turn it is; none: null.
  struct Bid {
    Port* out = nullptr;
    Input* input = nullptr;
    bool high = false;
    int picked = -1;
    std::uint32_t vl = 0;
  };
  Bid bid(Port& out) {
    const int high = pick(out, priorities_.high, out.high);
    const int low = pick(out, priorities_.low, out.low);
    const bool high_may = priorities_.limit_blocks < 0 || out.high_in_a_row < std::max(1, priorities_.limit_blocks);
    Bid bid;
    if (high < 0 && low < 0) return bid;
    bid.out = &out;
    bid.high = high >= 0 && (high_may || low < 0);
    bid.picked = bid.high ? high : low;
    const Weights& table = bid.high ? priorities_.high : priorities_.low;
    bid.vl = table[static_cast<std::size_t>(bid.picked) % table.size()].first;
    bid.input = candidate(out, bid.vl).first;
    return bid;
  }
  void take(const Bid& bid) {
    Port& out = *bid.out;
    bid.input->served = number_of(out);
    if (bid.high)
      out.high_in_a_row += queue_to(*bid.input, out).packets.front().packet.flits;
    else
      out.high_in_a_row = 0;
    take_turn(out, bid.high ? priorities_.high : priorities_.low, bid.high ? out.high : out.low, bid.picked);
  }

  /// Outputs bid for inputs until none can send more. An input that several want takes them in turn, by number from the
  /// one after that which it served last, as far as it may send; the others bid again.
  void match(const std::vector<Port*>& outs) {
    while (true) {
      std::map<Input*, std::vector<Bid>> bids;
      for (Port* out : outs)
        if (!out->crossing)
          if (const Bid made = bid(*out); made.input != nullptr) bids[made.input].push_back(made);
      if (bids.empty()) return;
      for (auto& [input, wanted] : bids) {
        const int served = input->served;
        std::sort(wanted.begin(), wanted.end(), [&](const Bid& a, const Bid& b) {
          return (number_of(*a.out) - served + 511) % 256 < (number_of(*b.out) - served + 511) % 256;
        });
        for (const Bid& made : wanted)
          if (input->sending < most_sending()) take(made);
      }
    }
  }
  std::vector<Port*> cabled_ports(fabric::NodeId node) {
    std::vector<Port*> cabled;
    for (int number = 1; number <= fabric_.node(node).port_count; ++number) {
      Port& port = ports_[fabric_.node(node).first_port + static_cast<std::uint32_t>(number)];
      if (port.peer != fabric::none) cabled.push_back(&port);
    }
    return cabled;
  }

  void grant(Port& out, std::uint32_t vl, Input& input) {
    Queue& queue = queue_to(input, out);
    Waiting& head = queue.packets.front();
    const Packet packet = head.packet;
    out.credits[vl] -= packet.flits;
    out.crossing = true;
    queue.busy = true;
    ++input.sending;
    head.crossing = true;
    if (!out.is_switch) {  // from the adapter's memory
      hosts_[static_cast<std::size_t>(out.host)].queued[vl] -= packet.flits;
      transmit(out, vl, packet, now_);
      at(now_ + part(out.flit, packet.bytes), [&out, &input, &queue] {
        out.crossing = false;
        --input.sending;
        queue.busy = false;
        queue.packets.pop_front();
      });
      return;
    }
    out.reserved += packet.flits;
    // When each flit will have crossed, from when it is ready and when the one before it began.
    std::vector<Time> crossed;
    Time begins = now_;
    for (int k = 0; k < packet.flits; ++k) {
      begins = k == 0 ? now_ : std::max(begins + out.crossbar, head.ready[static_cast<std::size_t>(k)]);
      must(begins >= head.ready[static_cast<std::size_t>(k)], "a flit crosses before it is ready");
      crossed.push_back(begins + part(out.crossbar, packet.size_of(k)));
    }
    Time start = out.link_free;
    for (int k = 0; k < packet.flits; ++k) start = std::max(start, crossed[static_cast<std::size_t>(k)] - k * out.flit);
    cross(out, input, queue, crossed);
    transmit(out, vl, packet, start);
  }

  /// Flit by flit out of the input buffer: into the output buffer of `out`.
  void cross(Port& out, Input& input, Queue& queue, const std::vector<Time>& crossed) {
    for (std::size_t k = 0; k < crossed.size(); ++k) {
      const bool last = k + 1 == crossed.size();
      at(crossed[k], [this, &out, &input, &queue, last] {
        ++flit_events_;
        leave_input(input);
        ++out.present;
        must(out.present <= static_cast<int>(parameters_.output_buffer), "an output buffer overflows");
        if (!last) return;
        out.crossing = false;
        --input.sending;
        queue.busy = false;
        queue.packets.pop_front();
      });
    }
  }

  void leave_input(Input& input) {
    --input.held;
    must(input.held >= 0, "an input buffer gives what it does not have");
    return_credit(ports_[input.port], input.lane);
  }

  /// One block of the lane of `port` is free: the port at the other end hears of it.
  void return_credit(Port& port, std::uint32_t vl) {
    const Time period = parameters_.credit_update_ns * 1000;
    Time told = now_;
    if (period > 0 && told % period != 0) told += period - told % period;
    Port& sender = ports_[port.peer];
    at(told + port.wire, [this, &sender, vl] {
      ++sender.credits[vl];
      must(sender.credits[vl] <= static_cast<int>(parameters_.input_buffer), "more credits than buffer");
    });
  }

  // ------------------------------------------------------------------------------------------------------------- links
  void transmit(Port& out, std::uint32_t vl, const Packet& packet, Time start) {
    must(start >= out.link_free, "two packets on a link");
    out.link_free = start + part(out.flit, packet.bytes);
    Port& peer = ports_[out.peer];
    const Time flit = out.flit;  // which may change while the packet is on its way
    const Time tail = out.link_free + out.wire;
    if (out.is_switch) ++packet.fate->hops;
    out.passing.push_back({packet.fate, tail});
    std::erase_if(out.passing, [this](const auto& passing) { return passing.second <= now_; });
    if (damages_ && damages_(id_of(out), packet.bytes, start)) packet.fate->damaged = true;
    if (packet.fate->damaged) packet.fate->known = tail;
    for (int k = 0; k < packet.flits; ++k) {
      const int end_bytes = 64 * k + packet.size_of(k);
      if (out.is_switch) {
        at(start + k * flit, [this, &out] { at(now_, [this, &out] { must(out.present > 0, "a link runs dry"); }); });
        at(start + part(flit, end_bytes), [&out] {
          --out.present;
          --out.reserved;
        });
      }
      at(start + part(flit, end_bytes) + out.wire, [this, &peer, vl, packet, k] {
        ++flit_events_;
        Input& input = peer.inputs[vl];
        ++input.held;
        must(input.held <= static_cast<int>(parameters_.input_buffer), "an input buffer overflows");
        if (peer.is_switch) return;
        if (k + 1 < packet.flits) return;
        Host& host = hosts_[static_cast<std::size_t>(peer.host)];
        host.arrived.push_back({packet, static_cast<int>(vl)});
        drain(host);
      });
    }
    if (!peer.is_switch) return;
    at(start + out.wire, [this, &out, &peer, vl, packet, flit] {  // the first bit arrives
      Waiting waiting;
      waiting.packet = packet;
      for (int k = 0; k < packet.flits; ++k)
        waiting.ready.push_back(now_ + part(flit, 64 * k + packet.size_of(k)) + parameters_.switch_latency_ns * 1000);
      at(waiting.ready[0], [] {});
      const fabric::NodeId node = fabric_.port(out.peer).node;
      const int number = out_of(tables_.row_of(node), packet.lid);
      const bool known = by_output_ && number <= fabric_.node(node).port_count;
      peer.inputs[vl].queues[known ? static_cast<std::size_t>(number) : 0].packets.push_back(waiting);
    });
  }

  // ----------------------------------------------------------------------------------------------- adapters, receiving
  void drain(Host& host) {
    if (host.draining || host.arrived.empty()) return;
    host.draining = true;
    const auto [packet, vl] = host.arrived.front();
    host.arrived.pop_front();
    Port& port = ports_[host.port];
    for (int k = 0; k < packet.flits; ++k)
      at(pcie_after(now_, part(pcie_flit_, 64 * k + packet.size_of(k))), [this, &host, &port, packet, vl, k] {
        ++flit_events_;
        --port.inputs[static_cast<std::size_t>(vl)].held;
        return_credit(port, static_cast<std::uint32_t>(vl));
        if (k + 1 < packet.flits) return;
        if (packet.fate->cut || packet.fate->damaged || packet.lid != fabric_.port(host.port).lid)
          ++dropped_;
        else
          received_.push_back({packet.source, packet.destination, packet.tag, now_});
        host.draining = false;
        drain(host);
      });
  }

  // ------------------------------------------------------------------------------------------------ heads and
  // lifetimes
  /// The head of a queue comes forward when the packet before it has left and its first flit is ready; it is dropped
  /// when it has no route, when its lane is stalled, or when its life is over.
  void come_forward(Port& port, std::uint32_t vl) {
    if (port.inputs[vl].held == 0) return;
    for (Queue& queue : port.inputs[vl].queues)
      if (!queue.packets.empty() && !queue.busy) come_forward(port, port.inputs[vl], queue);
  }
  void come_forward(Port& port, Input& input, Queue& queue) {
    Waiting& head = queue.packets.front();
    const fabric::PortId id = id_of(port);
    const fabric::NodeId node = fabric_.port(id).node;
    const Time life = parameters_.hoq_life >= 20 ? never : Time{4096000} << parameters_.hoq_life;
    if (!head.forward) {
      if (head.ready[0] > now_) return;
      const std::uint32_t row = tables_.row_of(node);
      head.route_port = out_of(row, head.packet.lid);
      head.forward = true;
      head.forward_since = now_;
      if (is_lost(*head.packet.fate)) return drop(port, input, queue);
      if (head.route_port == 0 || head.route_port == 255 ||
          fabric_.peer(fabric_.port_of(node, static_cast<std::uint8_t>(head.route_port))) == fabric::none)
        return drop(port, input, queue);
      head.route_lane =
          tables_.has_lane_maps()
              ? tables_.lane(row, fabric_.number_of(id), static_cast<std::uint8_t>(head.route_port), head.packet.level)
              : head.packet.level % static_cast<int>(lanes_);
      Port& out = ports_[fabric_.port_of(node, static_cast<std::uint8_t>(head.route_port))];
      if (out.stalled[static_cast<std::size_t>(head.route_lane)] > now_) return drop(port, input, queue);
      if (life != never) at(now_ + life, [] {});
    }
    Port& out = ports_[fabric_.port_of(node, static_cast<std::uint8_t>(head.route_port))];
    if (out.pulled > 0) return drop(port, input, queue);
    const auto out_lane = static_cast<std::size_t>(head.route_lane);
    const bool stalled = out.stalled[out_lane] > now_;
    if (stalled) return drop(port, input, queue);
    if (life == never || now_ < head.forward_since + life) return;
    drop(port, input, queue);
    if (parameters_.vl_stall == 0 || ++out.drops[out_lane] < static_cast<int>(parameters_.vl_stall)) return;
    out.drops[out_lane] = 0;
    out.stalled[out_lane] = now_ + 8 * life;
    for (Port& other : ports_)  // those that came forward before
      if (other.is_switch && fabric_.port(static_cast<fabric::PortId>(&other - ports_.data())).node == node)
        for (std::uint32_t lane = 0; lane < lanes_; ++lane) come_forward(other, lane);
  }

  void drop(Port& port, Input& input, Queue& queue) {
    ++dropped_;
    Waiting& head = queue.packets.front();
    queue.busy = true;
    Time begins = now_;
    for (int k = 0; k < head.packet.flits; ++k) {
      begins = k == 0 ? now_ : std::max(begins + port.crossbar, head.ready[static_cast<std::size_t>(k)]);
      const bool last = k + 1 == head.packet.flits;
      at(begins + part(port.crossbar, head.packet.size_of(k)), [this, &input, &queue, last] {
        leave_input(input);
        if (!last) return;
        queue.busy = false;
        queue.packets.pop_front();
      });
    }
  }

  const fabric::Fabric& fabric_;
  const fabric::Forwarding& tables_;
  const Parameters& parameters_;
  std::vector<Trouble> troubles_;
  std::map<std::pair<std::uint32_t, fabric::Lid>, int> changed_;
  std::function<bool(fabric::PortId, int, Time)> damages_;
  int hop_limit_ = 1 << 30;
  Time pcie_flit_;
  Priorities priorities_;
  std::uint32_t lanes_ = 1;
  bool by_output_ = false;
  Time now_ = 0;
  std::map<Time, std::vector<std::function<void()>>> agenda_;
  std::vector<Port> ports_;
  std::deque<Host> hosts_;
  std::vector<Received> received_;
  std::uint64_t dropped_ = 0;
  std::uint64_t flit_events_ = 0;
};

}  // namespace holdfast::simulate::reference
