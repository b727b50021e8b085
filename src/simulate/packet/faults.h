#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "core/random/stream.h"
#include "fabric/tables/forwarding.h"
#include "simulate/packet/fault_record.h"
#include "simulate/packet/state.h"
#include "simulate/packet/timeline.h"

/// What a network with faults during its traffic has besides (state.h): the state of its links, the fate of each
/// packet, and the reliable connections of its adapters.
namespace holdfast::simulate {

/// Why a packet is bad.
enum class Harm : std::uint8_t {
  none,
  cut,    ///< its link failed while it was on it, or in the buffer before it: no more of it arrives
  noise,  ///< bits changed: its VCRC tells whoever has received it wholly
};

/// What is known of a packet besides its record, by its number.
struct Fate {
  Time bad_from = never;  ///< from when on whoever looks at it knows that it is bad
  Harm harm = Harm::none;
  std::uint16_t hops = 0;        ///< switches that it left
  std::uint16_t pace = 0;        ///< at which the cable brings it to where it is, of Faults::paces
  std::uint32_t bytes = 0;       ///< on the wire
  std::uint32_t host = nothing;  ///< whose adapter it is on the way to now, if that is its destination
  std::uint32_t connection = 0;
  std::uint64_t sequence = 0;
};

/// One direction of a link.
struct FaultyPort {
  bool down = false;
  Time next_down = never;  ///< after now
  std::uint16_t pace = 0;  ///< of what is sent now, of Faults::paces
  std::vector<Timeline::Noise> noise;
  random::Stream draw{0};
};

/// The reliable connection from one host to another: go-back-N (InfiniBand Architecture Specification 1.3, 9.7). The
/// sequence number of a packet is its place in all that the connection was given; the wire has the lower 24 bits.
struct Connection {
  struct Packet {
    Time created = 0;
    std::uint32_t payload = 0;
    std::uint32_t tag = 0;
    bool last = false;  ///< of its message
  };
  std::uint32_t source = 0, destination = 0;
  std::uint8_t level = 0;
  bool broken = false;
  bool queued = false;                                  ///< its host has it in the line of those that send again
  bool complained = false;                              ///< the receiver has said that it misses `expected`
  bool timer = false;                                   ///< an event for it is due
  std::uint32_t retries = 0;                            ///< since the last progress
  std::uint64_t acknowledged = 0, next = 0, again = 0;  ///< sender: first unacknowledged, first new, next to send
  std::uint64_t expected = 0;                           ///< receiver
  Time deadline = never;
  Time silent_since = never;    ///< when a packet of it was lost that has not been acknowledged yet; never: none
  std::uint64_t silent_at = 0;  ///< that packet
  std::deque<Packet> packets;   ///< from `acknowledged` to `next`
};

/// Something that reaches an adapter, or a timer.
struct Notice {
  enum class Kind : std::uint8_t { acknowledged, missing, timeout, change };
  Kind kind = Kind::change;
  std::uint32_t connection = 0;
  std::uint64_t sequence = 0;
};

/// What a reliable adapter fetches now.
struct Fetch {
  std::uint32_t destination = 0;
  std::uint8_t level = 0, lane = 0;
  std::deque<std::uint32_t> again;  ///< connections that have something to send again
};

struct Faults {
  Timeline timeline;
  fabric::Forwarding* tables = nullptr;  ///< those of the network, which change
  struct Change {
    enum class Kind : std::uint8_t { write, paths, up, down, rate };
    Time at;
    Kind kind;
    std::uint32_t index;
  };
  std::vector<Change> changes;  ///< in the order of time
  std::size_t next_change = 0;
  Time next_at() const { return next_change < changes.size() ? changes[next_change].at : never; }
  std::vector<RateChange> rates;
  std::vector<Pace> paces;  ///< that links have or will have; fewer than 2^11, for Drain
  std::vector<FaultyPort> ports;
  std::vector<Fate> fates;
  std::uint32_t hop_limit = 64;
  Time timeout = never;
  Time acknowledgement = 0;
  std::uint32_t retries = 7;
  std::vector<Connection> connections;
  std::unordered_map<std::uint64_t, std::uint32_t> connection_of;  ///< source << 32 | destination
  std::vector<Notice> notices;
  std::vector<std::uint32_t> free_notices;
  std::vector<Fetch> fetches;  ///< by host
  Time active_until = 0;       ///< the last moment at which anything but a timer happened
  FaultRecord record;
};

}  // namespace holdfast::simulate
