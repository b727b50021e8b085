#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/kernel/event_queue.h"
#include "simulate/kernel/line_allocator.h"
#include "simulate/packet/arbitration.h"
#include "simulate/packet/crossing.h"
#include "simulate/packet/faults.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/lane_arbiter.h"
#include "simulate/packet/packet_book.h"
#include "simulate/packet/parameters.h"
#include "simulate/packet/pcie.h"
#include "simulate/packet/ring.h"
#include "simulate/packet/simulate.h"
#include "simulate/packet/state.h"
#include "simulate/packet/statistics.h"

/// The packet-level engine: one event brings a packet to the head of an input lane, and all that follows from sending
/// it on (its way through the crossbar, its time on the link, the return of its credits, its arrival) is computed at
/// once from closed forms. docs/design/simulator.md argues why that equals a simulation flit by flit;
/// flit_reference_for_tests.h is the other side of the comparison.
namespace holdfast::simulate {

/// What the event loop is compiled for.
enum class Form : std::uint8_t {
  plain,    ///< one virtual lane and few ports a node, without periodic credits and lifetimes
  general,  ///< any network whose input buffers have one queue
  queues,   ///< any whose input buffers have a queue for every output
  faulty,   ///< any whose input buffers have one queue, with faults during the traffic
};

/// Hidden, so that the compiler may inline its functions in position-independent code.
class [[gnu::visibility("hidden")]] Network final : private Traffic::Player {
 public:
  /// The arguments stay the caller's and must outlive it. `faults`: what happens during the traffic, or null; its
  /// tables are `forwarding`.
  Network(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding, const Parameters& parameters,
          const Arbitration& arbitration, Traffic& traffic, const Control& control,
          std::unique_ptr<Faults> faults = nullptr);

  /// Once. Throws std::length_error when more packets are under way than can be numbered.
  Record run();

 private:
  enum class Kind : std::uint32_t { head, wake, host, timer, delivered, freed, arrived, notice };
  static constexpr std::uint32_t index_mask = 0x1fffffff;
  static Event event(Kind kind, std::uint32_t index) {
    return (static_cast<std::uint32_t>(kind) << 29) | index;
  }
  static constexpr std::uint32_t look_ahead = 1;     ///< buckets, for each of three steps
  static constexpr std::uint64_t few_events = 1000;  ///< what so many touch stays in a core's own caches
  static Kind kind_of(Event event) {
    return static_cast<Kind>(event >> 29);
  }

  // build.cc
  void build_ports();
  void build_queues(fabric::PortId id);
  void build_lanes(fabric::PortId id, fabric::PortId peer);
  void build_senders();

  // network.cc: events, heads, arbitration, sending, in the form that the network needs.
  bool is_plain() const {
    return lanes_n_ == 1 && words_n_ == 1 && !maps_lanes_ && update_ == 0 && lifetime_ == never && !by_output();
  }
  template <Form form>
  void loop();
  template <Form form>
  std::uint32_t lanes_n() const {
    return form == Form::plain ? 1 : lanes_n_;
  }
  template <Form form>
  std::uint32_t lane_bits() const {
    return form == Form::plain ? 0 : lane_bits_;
  }
  template <Form form>
  std::uint32_t lane_mask() const {
    return form == Form::plain ? 0 : lane_mask_;
  }
  template <Form form = Form::general>
  fabric::PortId handle(Event event);
  template <Form form = Form::general>
  void prefetch();
  template <Form form = Form::general>
  void prefetch_record(Kind kind, std::uint32_t index);
  template <Form form = Form::general>
  void prefetch_route(Kind kind, std::uint32_t index);
  template <Form form = Form::general>
  void prefetch_way(Kind kind, std::uint32_t index);
  void prefetch_lane(std::uint32_t index) const;
  template <Form form = Form::general>
  void prefetch_port(fabric::PortId index) const;
  template <Form form = Form::general>
  void prefetch_chosen(fabric::PortId index, const OutPort& port) const;
  template <Form form = Form::general>
  void prefetch_out(fabric::PortId index, std::uint32_t out) const;
  template <Form form = Form::general>
  void prefetch_peer(std::uint32_t out) const;
  template <Form form = Form::general>
  void prefetch_sender(std::uint32_t index, const InLane& lane) const;
  template <Form form = Form::general>
  void prefetch_feeder(const InLane& lane) const;
  void mark(fabric::PortId port);
  void schedule(fabric::PortId port, OutPort & record, Time at);
  template <Form form>
  void append(std::uint32_t lane, const Queued& packet);
  template <Form form>
  Pace pace_in(const InLane& lane, const Queued& packet) const;
  template <Form form>
  std::uint32_t number_of_pace(const Queued& packet) const;
  template <Form form>
  void expect_head(std::uint32_t index, InLane & lane);
  template <Form form>
  Time forward_time(const InLane& lane) const;
  template <Form form = Form::general>
  void look_up(std::uint32_t index, InLane & lane) const;
  template <Form form = Form::general>
  fabric::PortId came_to_head(std::uint32_t lane);
  Queued take_head(InLane & lane);
  void drop_slot(InLane & lane);

  /// A packet that asks for an out lane: the number of its request, and the lane that it heads. The number is that of
  /// its port, with its lane above it where packets change lanes.
  struct Asking {
    std::uint32_t request, lane;
  };
  template <Form form = Form::general>
  Asking next_asking(fabric::PortId port, const OutPort& record, std::uint32_t out, const OutLane& out_record) const;
  Asking next_asking(std::uint32_t out) const;  // of any form
  template <Form form = Form::general>
  std::uint32_t next_request(std::uint32_t out, const OutLane& record) const;
  template <Form form = Form::general>
  void set_request(OutPort & port, std::uint32_t out, std::uint32_t request);
  template <Form form = Form::general>
  void clear_request(OutPort & port, std::uint32_t out, std::uint32_t request);
  template <Form form = Form::general>
  std::uint64_t& request_word(std::uint32_t out, std::uint32_t request);
  template <Form form = Form::general>
  std::uint32_t request_of(std::uint32_t index, const InLane& lane) const;
  template <Form form = Form::general>
  std::uint32_t lane_of(fabric::PortId port, const OutPort& record, std::uint32_t out, std::uint32_t request) const;

  template <Form form = Form::general>
  void arbitrate(fabric::PortId port);
  template <Form form = Form::general>
  bool decide(fabric::PortId index, OutPort & port, std::uint32_t & out, Asking & asking);
  template <Form form = Form::general>
  bool may_send(OutPort & port, std::uint32_t out, Asking asking, Time & wake);
  template <Form form>
  int choose(fabric::PortId index, OutPort & port, Time & wake);
  template <Form form = Form::general>
  void send(OutPort & port, std::uint32_t out, Asking asking);
  template <Form form>
  void arrive(OutPort & port, const OutLane& out, Queued packet, Time head);
  void in_memory(std::uint32_t host, const Queued& packet, Time at);
  template <Form form = Form::general>
  void give_back(InLane & lane, const Drain& drain);
  template <Form form = Form::general>
  void wake_feeder(InLane & lane);

  template <Form form = Form::general>
  Time credit_time(const OutPort& port, OutLane& out, std::uint32_t flits);
  template <Form form>
  Pace pace_out(const OutPort& port, const Drain& drain) const;
  template <Form form>
  Time block_leaves(const OutPort& port, const Drain& drain, std::uint32_t block) const;
  template <Form form = Form::general>
  Time announced(Time freed, const OutPort& port) const;
  Time room_time(OutPort & port, std::uint32_t flits);

  // output_queues.cc
  bool by_output() const {
    return first_queue_ != nothing;
  }
  bool is_queue(std::uint32_t lane) const {
    return lane >= first_queue_;
  }
  std::uint32_t buffer_of(std::uint32_t lane) const {
    return is_queue(lane) ? lanes_[lane].feeder : lane;
  }
  bool withheld(std::uint32_t lane) const {
    return is_queue(lane) && sends_ != 0 && queues_of_[lanes_[lane].feeder].sending >= sends_;
  }
  void build_queues_by_output();
  std::uint32_t queue_for(std::uint32_t buffer, std::uint32_t lid);
  void leave_queue(InLane & queue, const Drain& drain);
  void begin_to_send(std::uint32_t queue, const OutPort& port, Time crossed);
  void sending_over(std::uint32_t buffer);
  void match();
  void bid(fabric::PortId port);
  void stall_withheld(std::uint32_t out);
  Time known_credit_time(const OutPort& port, OutLane& out, std::uint32_t flits) {  // of any form
    if (faults_ != nullptr) return credit_time<Form::faulty>(port, out, flits);
    return by_output() && !port.to_adapter() ? credit_time_of_queues(port, out, flits) : credit_time(port, out, flits);
  }
  Time credit_time_of_queues(const OutPort& port, OutLane& out, std::uint32_t flits);
  void wake_feeder_of_queues(InLane & buffer);
  std::vector<std::uint32_t> blocked_circle_of_queues();
  std::uint32_t blocked_queue(std::uint32_t buffer, std::uint32_t next) const;

  // lifetime.cc
  void discard_head(std::uint32_t lane, std::uint64_t & counter);
  void forget(std::uint32_t packet, std::uint64_t & counter);
  bool whole(const PacketRecord& packet);
  void message_lost(const PacketRecord& packet);
  void stall(std::uint32_t out);
  void live_on(std::uint32_t lane);
  void lifetime_over(std::uint32_t lane);

  // injection.cc
  struct Pending {
    std::uint32_t host, tag;
    bool asked = false;  // call_at(): `tag` is due
  };
  void host_event(std::uint32_t host);
  void queue_to_send(std::uint32_t lane, const Queued& packet);
  void begin_fetch(std::uint32_t host);
  bool begin_message(std::uint32_t host);
  void to_itself(std::uint32_t host);
  void skip_message(Sender & sender, std::uint32_t index, std::uint64_t bytes);
  void ask_again(std::uint32_t host, Time at);
  std::uint32_t& queued_flits(const Sender& sender);
  void announce(const Pending& pending, Time at);
  void delivered_event(std::uint32_t index);
  void ask(std::uint32_t host, Time at) override;
  void call_at(Time at, std::uint32_t what) override;
  void end(Ending how) override {
    finish(how);
  }
  Time limit() const override {
    return control_.limit;
  }
  void tell(std::uint32_t host, std::uint32_t tag);

  // faults.cc: what happens to links, switches and the packets on them
  void build_faults();
  void begin_faults();
  void apply_faults();
  void write_row(const Timeline::Write& write);
  void set_down(fabric::LinkId link, bool down);
  void discard_at_adapter(std::uint32_t lane, std::uint64_t & counter);
  std::uint64_t* loss_of_head(std::uint32_t lane);
  void travels(const OutPort& port, const Queued& packet, Time start, Time tail);
  void finish_faults(Ending ending);

  // reliable.cc: adapters with reliable connections
  bool reliable() const {
    return faults_ != nullptr && faults_->timeline.reliable;
  }
  void faulty_host_event(std::uint32_t host);
  void fetch_reliably(std::uint32_t host);
  bool fetch_again(std::uint32_t host);
  bool begin_packet(std::uint32_t host, std::uint32_t destination, std::uint8_t level, std::uint32_t bytes);
  std::uint32_t connection_to(std::uint32_t host, std::uint32_t destination);
  void left_adapter(const Queued& packet);
  void packet_arrived(std::uint32_t packet);
  void accept(std::uint32_t packet, const Fate& fate);
  void delivered_packet(std::uint32_t packet, std::uint32_t host, std::uint32_t tag, std::uint32_t payload);
  void delivered_message(std::uint32_t host, std::uint32_t tag, Time created);
  void give_sequence(std::uint32_t packet, std::uint32_t connection, std::uint64_t sequence);
  void start_timer(std::uint32_t connection);
  void note_loss(std::uint32_t packet);
  bool unacknowledged() const;
  void notify(Notice::Kind kind, std::uint32_t connection, std::uint64_t sequence, Time at);
  void notice_event(std::uint32_t index);
  void acknowledged(std::uint32_t connection, std::uint64_t sequence);
  void send_again(std::uint32_t connection);
  void timed_out(std::uint32_t connection);
  void break_connection(Connection & connection);
  void skip_broken(std::uint32_t host);

  // ending.cc
  enum class Verdict : std::uint8_t { go_on, end };
  Verdict control_point();
  bool circle_found();
  void end_of_events();
  std::vector<std::uint32_t> blocked_circle();
  bool lacks_for_good(std::uint32_t out);
  template <class Visit>
  void visit_asked(const Visit& visit);
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

  template <class T>
  using Lines = std::vector<T, LineAllocator<T>>;

  Hosts host_ports_;
  EventQueue queue_;
  std::uint32_t lanes_n_ = 1;    ///< virtual lanes of every port
  std::uint32_t lane_bits_ = 0;  ///< lanes of one port stand at port << lane_bits_
  std::uint32_t lane_mask_ = 0;
  std::uint32_t stride_ = 6;        ///< log2 of request numbers a lane
  std::uint32_t asking_lanes_ = 0;  ///< the bits of an in lane that are in the number of its request; the others are
                                    ///< the out lane's
  std::uint32_t words_n_ = 1;       ///< 64-bit words of requests an out lane
  std::uint32_t usual_in_ = 4;      ///< full packets that an input buffer holds, rounded up
  std::uint32_t usual_out_ = 2;     ///< an output buffer
  bool watches_ = false;            ///< the traffic wants to hear of deliveries
  bool watches_losses_ = false;     ///< and of losses
  bool prefetches_ = false;         ///< the state is larger than a core's own caches
  bool maps_lanes_ = false;         ///< the tables have SL to VL tables
  Time now_ = 0;
  Time latency_ = 0;
  Time update_ = 0;
  Time lifetime_ = never;
  Pace pcie_;
  HiccupClock hiccup_{1, 0};

  Lines<InLane> lanes_;          // of ports, then the receive buffers of hosts
  std::uint32_t receiving_ = 0;  // where those begin
  Lines<OutLane> outs_;
  Lines<OutPort> ports_;
  Lines<std::uint32_t> peers_;       // those of outs_, close together, for prefetching
  std::vector<Time> head_since_;     // by in lane, where heads have a lifetime
  std::vector<Time> stalled_until_;  // by out lane, likewise
  Lines<std::uint64_t> words_;
  std::vector<std::uint64_t> asked_;  // by port, a bit each: somebody has wanted it since visit_asked() looked last

  // Input buffers with a queue for every output.
  std::uint32_t first_queue_ = nothing;    // where the queues stand in lanes_; nothing: one queue a lane
  std::uint32_t sends_ = 0;                // packets that may leave a buffer at once; 0: any number
  std::vector<QueuesByOutput> queues_of_;  // by in lane of a port
  std::vector<std::uint32_t> queue_to_;    // by in lane << stride_, and output: the queue; nothing: not needed yet
  struct Bid {
    fabric::PortId port;
    std::uint32_t out;
    Asking asking;
    std::uint32_t buffer;
    std::uint8_t turn;  // outputs between this one and the one that the buffer served last
    LaneArbiter::State before;
  };
  std::vector<Bid> bids_;
  std::vector<fabric::PortId> deciding_;
  struct Returning {
    Time at;  // the next block
    Drain drain;
    std::uint32_t block;
  };
  std::vector<Returning> returning_;

  RingPool<Slot> slots_;
  RingPool<Departure> departures_;
  PacketBook packets_;
  LaneArbiter arbiter_;
  std::vector<Sender> senders_;
  std::vector<std::uint32_t> queued_flits_;  // by host and lane
  Statistics statistics_;
  std::vector<fabric::PortId> marked_;
  std::vector<Pending> pending_;  // what the traffic is to hear of
  std::vector<std::uint32_t> free_pending_;
  std::vector<std::uint32_t> wake_;

  std::unordered_set<std::uint64_t> damaged_;  // messages that lost a packet: source and number
  std::uint64_t in_flight_ = 0;                // packets
  const fabric::Forwarding* paths_ = nullptr;  // where messages' service levels stand
  std::unique_ptr<Faults> faults_;             // null: nothing happens during the traffic
  Time next_control_ = never;
  Time next_check_ = never;
  bool over_ = false;
  Record record_;
};

// --------------------------------------------------------------------------------- small ones that several files use

inline void Network::mark(fabric::PortId port) {
  if (ports_[port].marked) return;
  ports_[port].marked = true;
  marked_.push_back(port);
}

/// At a moment after now. A later event that stands already goes stale.
inline void Network::schedule(fabric::PortId port, OutPort& record, Time at) {
  if (record.wake <= at) return;
  record.wake = at;
  queue_.push(at, event(Kind::wake, port));
}

template <Form form>
inline std::uint32_t Network::lane_of(fabric::PortId port, const OutPort& record, std::uint32_t out,
                                      std::uint32_t request) const {
  if constexpr (form == Form::plain) return port - record.number + request;
  const std::uint32_t number = request & ((1U << stride_) - 1);
  const std::uint32_t lane = (request >> stride_) | (out & lane_mask_ & ~asking_lanes_);
  const std::uint32_t in = ((port - record.number + number) << lane_bits_) + lane;
  return form == Form::queues && record.is_switch ? queue_to_[(std::size_t{in} << stride_) + record.number] : in;
}

template <Form form>
inline std::uint32_t Network::request_of(std::uint32_t index, const InLane& lane) const {
  return form == Form::plain ? lane.number : ((index & asking_lanes_) << stride_) + lane.number;
}

template <Form form>
inline std::uint64_t& Network::request_word(std::uint32_t out, std::uint32_t request) {
  return form == Form::plain || words_n_ == 1 ? outs_[out].requests
                                              : words_[std::size_t{out} * words_n_ + request / 64];
}

/// The request after the last one served, in a circle. There is one.
template <Form form>
inline std::uint32_t Network::next_request(std::uint32_t out, const OutLane& record) const {
  const std::uint32_t from = record.turn + 1U;
  if (form == Form::plain || words_n_ == 1)
    return (from + static_cast<std::uint32_t>(std::countr_zero(std::rotr(record.requests, from & 63)))) & 63;
  const std::uint64_t* words = &words_[std::size_t{out} * words_n_];
  const std::uint32_t first = from / 64 % words_n_;
  if (const std::uint64_t bits = words[first] & (~0ULL << (from % 64)); bits != 0)
    return first * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  for (std::uint32_t step = 1; step <= words_n_; ++step) {
    const std::uint32_t word = (first + step) % words_n_;
    if (words[word] != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(words[word]));
  }
  return 0;
}

template <Form form>
inline Network::Asking Network::next_asking(fabric::PortId port, const OutPort& record, std::uint32_t out,
                                            const OutLane& out_record) const {
  const std::uint32_t request = next_request<form>(out, out_record);
  return {request, lane_of<form>(port, record, out, request)};
}

inline Network::Asking Network::next_asking(std::uint32_t out) const {
  const fabric::PortId port = out >> lane_bits_;
  return by_output() ? next_asking<Form::queues>(port, ports_[port], out, outs_[out])
                     : next_asking(port, ports_[port], out, outs_[out]);
}

template <Form form>
inline void Network::clear_request(OutPort& port, std::uint32_t out, std::uint32_t request) {
  request_word<form>(out, request) &= ~(std::uint64_t{1} << (request & 63));
  OutLane& record = outs_[out];
  record.lacking = OutLane::none;
  if (--record.waiting == 0) port.lanes_wanted &= static_cast<std::uint16_t>(~(1U << (out & lane_mask<form>())));
}

/// The pace at which the cable brings a packet to this lane, and its number among those of the timeline.
template <Form form>
inline Pace Network::pace_in(const InLane& lane, const Queued& packet) const {
  if (form != Form::faulty || lane.row == nothing) return lane.in();
  return faults_->paces[faults_->fates[packet.index()].pace];
}

template <Form form>
inline std::uint32_t Network::number_of_pace(const Queued& packet) const {
  return form == Form::faulty ? faults_->fates[packet.index()].pace : 0;
}

/// When the head of a lane comes forward: when the packet before it has left wholly and its own first flit has come
/// through the switch.
template <Form form>
inline Time Network::forward_time(const InLane& lane) const {
  return std::max(lane.free_at,
                  lane.head.ready + pace_in<form>(lane, lane.head).of(std::min(lane.head.bytes(), flit_bytes)));
}

/// A switch's lane has another head, which comes forward later than now.
template <Form form>
inline void Network::expect_head(std::uint32_t index, InLane& lane) {
  lane.looked_up = false;
  queue_.push(forward_time<form>(lane), event(Kind::head, index));
}

/// Takes the head off. Its slot stays, for give_back() or for drop_slot(), and the packet behind it is the caller's to
/// bring forward, if the lane is still occupied.
inline Queued Network::take_head(InLane& lane) {
  const Queued packet = lane.head;
  lane.waiting = false;
  if (++lane.left != lane.slots.count) lane.head = slots_.at(lane.slots, lane.left).packet();
  return packet;
}

/// The pace at which the cable of `port` brought a packet.
template <Form form>
inline Pace Network::pace_out(const OutPort& port, const Drain& drain) const {
  return form == Form::faulty ? faults_->paces[drain.pace()] : port.link();
}

/// When this block of a packet leaves the buffer that `port` leads to.
template <Form form>
inline Time Network::block_leaves(const OutPort& port, const Drain& drain, std::uint32_t block) const {
  if (block + 1 == drain.flits()) return drain.last();
  if (!port.to_adapter()) return drain.block_from_switch(block, pace_out<form>(port, drain), port.peer_crossbar());
  return hiccup_.after(drain.begun_to_memory(), pcie_.of((std::uint64_t{block} + 1) * flit_bytes));
}

/// When the sender knows of it.
template <Form form>
inline Time Network::announced(Time freed, const OutPort& port) const {
  const Time told = form == Form::plain || update_ == 0 ? freed : (freed + update_ - 1) / update_ * update_;
  return told + port.propagation;
}

/// The packet that was taken last leaves a buffer whose credits go back to the port at the other end of its cable.
/// Not for a queue of a buffer: leave_queue().
template <Form form>
inline void Network::give_back(InLane& lane, const Drain& drain) {
  slots_.at(lane.slots, lane.left - 1U) = Slot(drain);
  if (lane.need != 0) wake_feeder<form>(lane);
}

/// A slot of which nobody wants to know any more, the oldest.
inline void Network::drop_slot(InLane& lane) {
  slots_.pop(lane.slots);
  --lane.left;
}

}  // namespace holdfast::simulate
