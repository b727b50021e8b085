#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "fabric/topology/fabric.h"
#include "simulate/kernel/time.h"
#include "simulate/packet/crossing.h"
#include "simulate/packet/packet_book.h"
#include "simulate/packet/parameters.h"
#include "simulate/packet/ring.h"
#include "simulate/packet/traffic.h"

/// What a network is made of while it runs: one record for each lane of an input port, for each lane of an output port
/// and for each port, a cache line each or half of one. The lanes of port p stand at p << lane bits.
namespace holdfast::simulate {

inline constexpr std::uint32_t nothing = 0xffffffff;

/// A packet's place in a buffer: the packet, and once it has left, how its blocks become free. 16 bytes.
class Slot {
 public:
  Slot() = default;
  explicit Slot(const Queued& packet) : Slot(std::bit_cast<Slot>(packet)) {}
  explicit Slot(const Drain& drain) : Slot(std::bit_cast<Slot>(drain)) {}
  Queued packet() const { return std::bit_cast<Queued>(*this); }
  Drain drain() const { return std::bit_cast<Drain>(*this); }

 private:
  std::uint64_t words_[2] = {};
};

/// A virtual lane of an input port: packets in the order of arrival. An adapter's port has its send queues here; its
/// receive buffers are lanes beyond those of ports, with nothing but drains.
struct alignas(64) InLane {
  Queued head;                     ///< while occupied(): a copy of its slot, for which the slot keeps the place
  Time free_at = 0;                ///< when the last packet that left it has left it wholly
  std::uint32_t out = nothing;     ///< the out lane that its head waits for or will; nothing: not looked up, or none
  std::uint32_t feeder = nothing;  ///< a switch's: the out lane at the other end of the cable; an adapter's: its host
  std::uint32_t row = nothing;     ///< the switch's forwarding table; nothing: an adapter
  std::uint32_t in_flit_ps = 0;    ///< of the cable
  Ring slots;                      ///< packets that left, until the sender has heard of all their blocks; the others
  std::uint16_t left = 0;          ///< packets that left
  std::uint8_t number = 0;         ///< of the port
  std::uint8_t node_ports = 0;
  std::uint8_t need = 0;   ///< blocks that the sender wants and no known drain will return; 0: none
  bool looked_up = false;  ///< `out` says where the head goes
  bool waiting = false;    ///< the head has come forward and asks `out`
  bool timer = false;      ///< an event for its lifetime is due

  Pace in() const { return {in_flit_ps}; }
  std::uint32_t packets() const { return slots.count - std::uint32_t{left}; }
  bool occupied() const { return slots.count != left; }
};
static_assert(sizeof(InLane) == 64);

/// What the queues of an input buffer share that has one for every output. The buffer's InLane has the credits that are
/// on their way back; each queue is an InLane of its own, with the packets, whose `feeder` is the buffer.
struct QueuesByOutput {
  std::vector<std::uint32_t> queues;  ///< in lanes, in the order in which they were first needed
  std::uint16_t sending = 0;          ///< packets that cross now
  std::uint8_t served = 255;          ///< the output that took a packet last
};

/// A virtual lane of an output port: the credits for the buffer at the other end, and who wants to send.
struct alignas(32) OutLane {
  static constexpr std::uint16_t none = 0xffff;
  std::uint64_t requests = 0;    ///< a bit each, by number (one word; more stand in the network's words)
  std::int32_t credits = 0;      ///< blocks; without those of the drains at the other end, which return them
  std::uint32_t peer = nothing;  ///< the lane at the other end; nothing: no cable
  Time credits_at = 0;           ///< when request `lacking` will have its credits; never: that is not known
  std::uint16_t lacking = none;  ///< the request that was found without credits last
  std::uint16_t turn = 0;        ///< the request that was served last
  std::uint16_t waiting = 0;     ///< heads that want this lane
  std::uint8_t flits = 0;        ///< of the packet of `lacking`
  std::uint8_t drops = 0;        ///< in a row
};
static_assert(sizeof(OutLane) == 32);

struct alignas(64) OutPort {
  Time link_free = 0;
  Time cross_free = 0;  ///< when the crossbar may bring the next packet
  Time wake = never;    ///< the next event for this port; earlier ones are stale
  Time propagation = 0;
  std::uint32_t link_flit_ps = 0;   ///< 0: no cable
  std::uint32_t cross_flit_ps = 0;  ///< of the switch this port is on
  std::uint32_t peer_cross_flit_ps = 0;
  std::uint32_t host = nothing;    ///< at the other end; nothing: a switch is
  Ring departures;                 ///< packets in the output buffer
  std::uint16_t held = 0;          ///< their flits
  std::uint16_t lanes_wanted = 0;  ///< bits: lanes with waiting > 0
  std::uint8_t number = 0;
  bool is_switch = false;
  bool marked = false;

  Pace link() const { return {link_flit_ps}; }
  Pace crossbar() const { return {cross_flit_ps}; }
  Pace peer_crossbar() const { return {peer_cross_flit_ps}; }
  bool to_adapter() const { return host != nothing; }
};
static_assert(sizeof(OutPort) == 64);

/// The sending half of an adapter.
struct alignas(64) Sender {
  enum class State : std::uint8_t { ready, fetching, waiting_for_room, later, silent };
  fabric::PortId port = 0;
  std::uint32_t row = nothing;  ///< of the switch it is at
  State state = State::ready;
  bool has_message : 1 = false;
  bool has_cable : 1 = false;
  std::uint8_t level = 0;
  std::uint8_t lane = 0;
  std::uint32_t packet = nothing;  ///< being fetched
  Time due = never;                ///< the moment of its valid event
  Traffic::Message message;
  std::uint64_t rest = 0;      ///< bytes of the message that are not fetched
  std::uint32_t bytes = 0;     ///< of it, on the wire
  std::uint32_t messages = 0;  ///< begun so far
};
static_assert(sizeof(Sender) == 64);

}  // namespace holdfast::simulate
