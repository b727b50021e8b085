#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "fabric/routing/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/kernel/event_queue.h"
#include "simulate/packet/arbitration.h"
#include "simulate/packet/histogram.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/parameters.h"
#include "simulate/packet/pcie.h"
#include "simulate/packet/samples.h"
#include "simulate/packet/simulate.h"

/// The packet-level engine: one event brings a packet to the head of an input lane, and all that follows from sending
/// it on (its way through the crossbar, its time on the link, the return of its credits, its arrival) is computed at
/// once from closed forms. docs/design/simulator.md argues why that equals a simulation flit by flit; flit_reference.h
/// is the other side of the comparison.
namespace holdfast::simulate {

/// How the blocks of one packet leave a buffer: block k (from 0) at
/// max(begun + (k + 1) cross, ready + (k + 1) in + cross), the last at `last`; in an adapter by HiccupClock from
/// `begun`.
struct Drain {
  Time begun;  ///< when it was allowed to cross
  Time ready;  ///< its head's arrival and the switch's latency
  Time last;   ///< when its last block has left
  std::uint32_t flits;
};

/// A packet in an output buffer. It leaves at an even pace from `start`.
struct Departure {
  Time start;
  std::uint32_t bytes;
  std::uint32_t flits;
};

/// A ring of T in a shared pool. Grows by moving to the pool's end, which only unusual mixes of packet sizes cause.
struct Ring {
  std::uint32_t first = 0;
  std::uint16_t head = 0;
  std::uint16_t count = 0;
  std::uint16_t mask = 0;  ///< capacity - 1
};
template <class T>
class RingPool {
 public:
  Ring make(std::uint32_t capacity);
  T& at(const Ring& ring, std::uint32_t i) { return pool_[ring.first + ((ring.head + i) & ring.mask)]; }
  void pop(Ring& ring) {
    ring.head = static_cast<std::uint16_t>((ring.head + 1) & ring.mask);
    --ring.count;
  }
  void push(Ring& ring, const T& value) {
    if (ring.count > ring.mask) grow(ring);
    at(ring, ring.count++) = value;
  }
  std::uint64_t bytes() const { return pool_.capacity() * sizeof(T); }

 private:
  void grow(Ring& ring);
  std::vector<T> pool_;
};

class Network {
 public:
  Network(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding, const Parameters& parameters,
          const Arbitration& arbitration, Traffic& traffic, const Control& control);

  Record run();

 private:
  static constexpr std::uint32_t nothing = 0xffffffff;
  enum class Kind : std::uint32_t { head, wake, host, timer, delivered };
  static Event event(Kind kind, std::uint32_t index) { return (static_cast<std::uint32_t>(kind) << 29) | index; }

  struct alignas(64) Packet {
    Time created;  ///< its message
    Time fetched;  ///< when its fetch began
    Time ready;  ///< its head's arrival at the port it is in, and that switch's latency; in an adapter: its fetch's end
    std::uint32_t next;
    std::uint32_t destination;  ///< LID
    std::uint32_t source;       ///< host
    std::uint32_t tag;
    std::uint32_t message;  ///< counts its source's messages
    std::uint16_t bytes;    ///< on the wire
    std::uint8_t level;
    bool last;  ///< of its message
  };

  /// A lane of an input port: packets in the order of arrival. Those of an adapter's port are its send queues.
  struct alignas(64) Lane {
    std::uint32_t head = nothing;
    std::uint32_t tail = nothing;
    Time free_at = 0;                  ///< when the last packet that left it has left it wholly
    Time head_since = 0;               ///< when its head came to be the head, for its lifetime
    std::uint32_t out = nothing;       ///< the out lane that its head waits for; nothing: none does
    std::uint32_t head_out = nothing;  ///< the one that its head will wait for
    std::uint32_t feeder = nothing;    ///< the out lane at the other end of the cable
    std::uint32_t in_flit_ps = 0;      ///< of the cable
    std::uint32_t queued = 0;          ///< packets; an adapter's: flits
    std::uint32_t row = nothing;       ///< the switch's forwarding table; nothing: an adapter
    fabric::PortId first_port = 0;
    std::uint16_t head_flits = 0;
    std::uint8_t number = 0;
    std::uint8_t lane = 0;
    std::uint8_t node_ports = 0;
    bool timer = false;
  };

  /// A virtual lane of an output port: the credits for the buffer at the other end, and who wants to send.
  struct alignas(64) OutLane {
    std::int32_t credits = 0;      ///< blocks; without those of `drains`, which return them
    Ring drains;                   ///< in the buffer at the other end
    std::uint16_t turn = 0;        ///< the input that sent last
    std::uint32_t need = 0;        ///< blocks wanted that no known drain will return; 0: none
    std::uint32_t peer = nothing;  ///< the lane at the other end; nothing: an adapter, or no cable
    std::uint32_t waiting = 0;     ///< heads that want this lane
    std::uint64_t requests = 0;    ///< a bit each, by lane and port number (unless wide_)
    Time stalled_until = 0;
    std::uint8_t drops = 0;  ///< in a row
  };

  struct alignas(64) Port {
    // The first cache line is what a grant needs.
    Time link_free = 0;
    Time cross_free = 0;  ///< when the crossbar may bring the next packet
    Time wake = never;    ///< the next event for this port; earlier ones are stale
    Pace link;
    Time propagation = 0;
    Ring departures;                 ///< in the output buffer
    std::uint16_t lanes_wanted = 0;  ///< bits: lanes with waiting > 0
    bool is_switch = false;
    bool marked = false;
    std::uint32_t sink = nothing;  ///< the host at the other end
    std::uint32_t host = nothing;  ///< whose port this is
    Pace cross;                    ///< of the switch this port is on
    Pace peer_cross;               ///< of the switch at the other end
    fabric::PortId first_port = 0;
    fabric::NodeId node = 0;
    std::uint32_t low_at = 0, high_at = 0;
    std::int32_t low_left = 0, high_left = 0;
    std::int32_t high_sent = 0;  ///< blocks since the last low-priority packet
  };

  struct Host {
    enum class State : std::uint8_t { ready, fetching, waiting_for_room, later, silent };
    fabric::PortId port = 0;
    fabric::Lid lid = 0;
    std::uint32_t row = nothing;  ///< of the switch it is at
    State state = State::ready;
    bool has_message = false;
    std::uint8_t level = 0;
    std::uint8_t lane = 0;
    Time due = never;  ///< the moment of its valid event
    Traffic::Message message;
    std::uint64_t rest = 0;          ///< bytes of the message that are not fetched
    std::uint32_t packet = nothing;  ///< being fetched
    Time memory_free = 0;            ///< when its PCI Express has brought all that arrived to memory
    std::uint32_t messages = 0;      ///< begun so far
    std::uint64_t delivered = 0;     ///< payload bytes in its memory
    Samples samples;
  };

  void build_ports(const fabric::Fabric& fabric);
  void build_hosts(const fabric::Fabric& fabric);

  void handle(Event event);
  void came_to_head(std::uint32_t lane);
  std::uint32_t route(const Lane& lane, const Packet& packet) const;
  void prefetch() const;
  void mark(fabric::PortId port);
  void arbitrate(fabric::PortId port);
  bool may_send(Port& port, OutLane& out, Time& wake);
  bool choose(fabric::PortId port, Time& wake, std::uint8_t& lane);
  std::uint32_t choose_from(fabric::PortId port, const std::vector<Arbitration::Entry>& table, std::uint32_t at,
                            std::int32_t left, Time& wake);
  void send(fabric::PortId port, std::uint8_t out_lane);
  void schedule(fabric::PortId port, Time at);

  std::uint32_t next_request(const OutLane& out, std::size_t out_index) const;
  void set_request(std::uint32_t out_index, std::uint32_t request, bool on);
  std::uint32_t lane_of(const Port& port, std::uint32_t request) const;
  std::uint32_t take_head(Lane& lane);
  void next_head(std::uint32_t lane);
  void append(std::uint32_t lane, std::uint32_t packet);

  Time credit_time(const Port& port, OutLane& out, std::uint32_t flits, Time now);
  Time block_leaves(const Port& port, const Drain& drain, std::uint32_t block) const;
  Time announced(Time freed, const Port& port) const;
  Time room_time(Port& port, std::uint32_t flits, Time now);
  Time cross_switch(const Port& port, const Lane& lane, const Packet& packet, Time& start);
  void give_back(std::uint32_t feeder, const Drain& drain);
  void discard_head(std::uint32_t lane, std::uint64_t& counter);
  void forget(std::uint32_t packet, std::uint64_t& counter);
  void stall(std::uint32_t out_index);
  void lifetime_over(std::uint32_t lane);

  void host_event(std::uint32_t host);
  void begin_fetch(std::uint32_t host);
  bool begin_message(std::uint32_t host);
  void skip_message(Host& host, std::uint32_t index, std::uint64_t bytes);
  void ask_again(std::uint32_t host, Time at);
  void arrive(Port& port, OutLane& out, std::uint32_t packet, Time head);
  void in_memory(std::uint32_t host, const Packet& packet, Time at);
  bool whole(const Packet& packet);
  void announce(std::uint32_t host, std::uint32_t tag, Time at);
  void delivered_event(std::uint32_t index);

  std::uint32_t take_packet();
  void free_packet(std::uint32_t packet);

  enum class Verdict : std::uint8_t { go_on, end };
  Verdict control_point();
  bool circle_found();
  bool steady();
  void end_of_events();
  std::vector<std::uint32_t> find_circle();
  void describe_circle(const std::vector<std::uint32_t>& lanes);
  void count_states();
  void finish(Ending ending);
  std::uint64_t memory() const;

  const fabric::Fabric& fabric_;
  const fabric::Forwarding& forwarding_;
  const Parameters& parameters_;
  const Arbitration& arbitration_;
  Traffic& traffic_;
  const Control& control_;

  Hosts host_ports_;
  EventQueue queue_;
  std::uint32_t lanes_n_ = 1;    ///< virtual lanes of every port
  std::uint32_t lane_bits_ = 0;  ///< lanes of one port stand at port << lane_bits_
  std::uint32_t lane_mask_ = 0;
  std::uint32_t stride_ = 6;   ///< log2 of request numbers a lane
  std::uint32_t words_n_ = 1;  ///< 64-bit words of requests an out lane
  bool fair_single_ = false;   ///< one lane: no arbitration between lanes
  bool watches_ = false;
  Time now_ = 0;
  Time latency_ = 0;
  Time update_ = 0;
  Time lifetime_ = never;
  Pace pcie_;
  HiccupClock hiccup_{1, 0};

  std::vector<Packet> packets_;
  std::uint32_t free_packet_ = nothing;
  std::vector<Lane> lanes_;
  std::vector<OutLane> outs_;
  std::vector<Port> ports_;
  std::vector<std::uint64_t> words_;
  RingPool<Drain> drains_;
  RingPool<Departure> departures_;
  std::vector<Host> hosts_;
  std::vector<fabric::PortId> marked_;
  struct Pending {
    std::uint32_t host, tag;
  };
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<std::uint32_t> wake_;

  std::unordered_set<std::uint64_t> damaged_;  // messages that lost a packet: source and number
  std::uint64_t in_flight_ = 0;                // packets
  Time next_control_ = never;
  Time next_check_ = never;
  bool over_ = false;
  Histogram message_latency_, packet_latency_;
  Record record_;
};

}  // namespace holdfast::simulate
