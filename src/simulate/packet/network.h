#pragma once

#include <bit>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "fabric/routing/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/kernel/event_queue.h"
#include "simulate/packet/arbitration.h"
#include "simulate/packet/crossing.h"
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
/// once from closed forms. docs/design/simulator.md argues why that equals a simulation flit by flit; flit_reference.h
/// is the other side of the comparison.
namespace holdfast::simulate {

/// Hidden, so that the compiler may inline its functions in position-independent code.
class [[gnu::visibility("hidden")]] Network {
 public:
  /// The arguments stay the caller's and must outlive it.
  Network(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding, const Parameters& parameters,
          const Arbitration& arbitration, Traffic& traffic, const Control& control);

  /// Once. Throws std::length_error when more packets are under way than can be numbered.
  Record run();

 private:
  enum class Kind : std::uint32_t { head, wake, host, timer, delivered };
  static constexpr std::uint32_t index_mask = 0x1fffffff;
  static Event event(Kind kind, std::uint32_t index) {
    return (static_cast<std::uint32_t>(kind) << 29) | index;
  }
  static constexpr std::uint32_t first_look = 5;  ///< buckets ahead
  static Kind kind_of(Event event) {
    return static_cast<Kind>(event >> 29);
  }

  // build.cc
  void build_ports();
  void build_lanes(fabric::PortId id, fabric::PortId peer);
  void build_senders();

  // network.cc: events, heads, arbitration, sending
  void handle(Event event);
  void prefetch();
  void prefetch_head(std::uint32_t lane, std::uint32_t ahead);
  void prefetch_wake(fabric::PortId port, std::uint32_t ahead);
  void prefetch_sink(const OutPort& port, const InLane& lane) const;
  void mark(fabric::PortId port);
  void schedule(fabric::PortId port, Time at);
  void append(std::uint32_t lane, const Queued& packet);
  void next_head(std::uint32_t lane);
  void look_up(std::uint32_t index, InLane & lane) const;
  void came_to_head(std::uint32_t lane);
  Queued take_head(InLane & lane);

  std::uint64_t* request_words(std::uint32_t out, OutLane & record);
  std::uint32_t next_request(std::uint32_t out);
  void set_request(std::uint32_t out, std::uint32_t request);
  void clear_request(std::uint32_t out, std::uint32_t request);
  std::uint32_t request_of(std::uint32_t lane) const;
  std::uint32_t lane_of(fabric::PortId port, std::uint32_t request) const;

  void arbitrate(fabric::PortId port);
  bool may_send(fabric::PortId port, std::uint32_t out, Time & wake);
  int choose(fabric::PortId port, Time & wake);
  void send(fabric::PortId port, std::uint32_t out);
  void arrive(OutPort & port, const OutLane& out, Queued packet, Time head);
  void in_memory(std::uint32_t host, const Queued& packet, Time at);
  void give_back(InLane & lane, const Drain& drain);

  Time credit_time(const OutPort& port, OutLane& out, std::uint32_t flits);
  Time last_leaves(const OutPort& port, const Drain& drain) const;
  Time block_leaves(const OutPort& port, const Drain& drain, std::uint32_t block) const;
  Time announced(Time freed, const OutPort& port) const;
  Time room_time(OutPort & port, std::uint32_t flits);

  // lifetime.cc
  void discard_head(std::uint32_t lane, std::uint64_t & counter);
  void forget(std::uint32_t packet, std::uint64_t & counter);
  bool whole(const PacketRecord& packet);
  void stall(std::uint32_t out);
  void live_on(std::uint32_t lane);
  void lifetime_over(std::uint32_t lane);

  // injection.cc
  void host_event(std::uint32_t host);
  void begin_fetch(std::uint32_t host);
  bool begin_message(std::uint32_t host);
  void to_itself(std::uint32_t host);
  void skip_message(Sender & sender, std::uint32_t index, std::uint64_t bytes);
  void ask_again(std::uint32_t host, Time at);
  std::uint32_t& queued_flits(const Sender& sender);
  void announce(std::uint32_t host, std::uint32_t tag, Time at);
  void delivered_event(std::uint32_t index);

  // ending.cc
  enum class Verdict : std::uint8_t { go_on, end };
  Verdict control_point();
  bool circle_found();
  void end_of_events();
  std::vector<std::uint32_t> blocked_circle();
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
  bool watches_ = false;       ///< the traffic wants to hear of deliveries
  bool prefetches_ = false;    ///< the state is larger than a core's own caches
  Time now_ = 0;
  Time latency_ = 0;
  Time update_ = 0;
  Time lifetime_ = never;
  Pace pcie_;
  HiccupClock hiccup_{1, 0};

  std::vector<InLane> lanes_;
  std::vector<OutLane> outs_;
  std::vector<OutPort> ports_;
  std::vector<Time> head_since_;  // by in lane, where heads have a lifetime
  std::vector<std::uint64_t> words_;
  RingPool<Queued> queues_;
  RingPool<Drain> drains_;
  RingPool<Departure> departures_;
  PacketBook packets_;
  LaneArbiter arbiter_;
  std::vector<Sender> senders_;
  std::vector<std::uint32_t> queued_flits_;  // by host and lane
  Statistics statistics_;
  std::vector<fabric::PortId> marked_;
  struct Pending {
    std::uint32_t host, tag;
  };
  std::vector<Pending> pending_;  // deliveries to announce
  std::vector<std::uint32_t> free_pending_;
  std::vector<std::uint32_t> wake_;

  std::unordered_set<std::uint64_t> damaged_;  // messages that lost a packet: source and number
  std::uint64_t in_flight_ = 0;                // packets
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
inline void Network::schedule(fabric::PortId port, Time at) {
  OutPort& known = ports_[port];
  if (known.wake <= at) return;
  known.wake = at;
  queue_.push(at, event(Kind::wake, port));
}

inline std::uint32_t Network::lane_of(fabric::PortId port, std::uint32_t request) const {
  const std::uint32_t number = request & ((1U << stride_) - 1);
  return ((port - ports_[port].number + number) << lane_bits_) + (request >> stride_);
}

inline std::uint32_t Network::request_of(std::uint32_t lane) const {
  return ((lane & lane_mask_) << stride_) + lanes_[lane].number;
}

inline std::uint64_t* Network::request_words(std::uint32_t out, OutLane& record) {
  return words_n_ == 1 ? &record.requests : &words_[std::size_t{out} * words_n_];
}

/// The request after the last one served, in a circle. There is one.
inline std::uint32_t Network::next_request(std::uint32_t out) {
  OutLane& record = outs_[out];
  const std::uint32_t from = record.turn + 1U;
  const std::uint64_t later = ~0ULL << (from % 64);
  if (words_n_ == 1) {
    const std::uint64_t bits = record.requests & (from == 64 ? ~0ULL : later);
    return static_cast<std::uint32_t>(std::countr_zero(bits != 0 ? bits : record.requests)) & 63;
  }
  const std::uint64_t* words = request_words(out, record);
  const std::uint32_t first = from / 64 % words_n_;
  if (const std::uint64_t bits = words[first] & later; bits != 0)
    return first * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  for (std::uint32_t step = 1; step <= words_n_; ++step) {
    const std::uint32_t word = (first + step) % words_n_;
    if (words[word] != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(words[word]));
  }
  return 0;
}

inline void Network::clear_request(std::uint32_t out, std::uint32_t request) {
  OutLane& record = outs_[out];
  request_words(out, record)[request / 64] &= ~(std::uint64_t{1} << (request & 63));
  if (--record.waiting == 0)
    ports_[out >> lane_bits_].lanes_wanted &= static_cast<std::uint16_t>(~(1U << (out & lane_mask_)));
}

/// Credits of a buffer go back to the port at the other end of its cable.
inline void Network::give_back(InLane& lane, const Drain& drain) {
  drains_.push(lane.drains, drain);
  if (lane.need == 0) return;
  const fabric::PortId port = lane.feeder >> lane_bits_;
  const Time at = credit_time(ports_[port], outs_[lane.feeder], lane.need);
  if (at == never) return;
  lane.need = 0;
  schedule(port, at);
}

}  // namespace holdfast::simulate
