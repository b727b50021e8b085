#pragma once

#include <algorithm>
#include <cstdint>

#include "simulate/kernel/time.h"
#include "simulate/packet/parameters.h"

/// Closed forms of one packet's way out of an input buffer: when it has crossed, when the link may take it up, and how
/// the blocks that it held become free. docs/design/simulator.md derives them.
namespace holdfast::simulate {

struct Crossing {
  Time crossed;   ///< when its last flit is in the output buffer
  Time start;     ///< when the link may begin: early enough to lose nothing, late enough that every flit is there when
                  ///< its turn on the link comes, since a packet is never interrupted on a link
  bool by_cable;  ///< the last flit waited for the cable, not for the crossbar
};

/// A packet of `bytes` that crosses from `now` on; its flits come from a cable of pace `in`, the first one at `ready`
/// and the flit's time; the link is free from `link_free`.
inline Crossing cross(Time now, std::uint32_t bytes, Time ready, Pace in, Pace crossbar, Pace link, Time link_free) {
  const std::uint32_t flits = flits_of(bytes);
  if (flits == 1) {
    const Time crossed = now + crossbar.of(bytes);
    return {crossed, std::max(link_free, crossed), false};
  }
  const Time before = flits - 1;
  const std::uint32_t part = bytes - (flits - 1) * flit_bytes;
  const Time paced = now + before * crossbar.flit_ps;  // by the crossbar
  const Time arrived = ready + before * in.flit_ps;    // by the cable: all flits but the last
  const Time last_arrived = arrived + std::max(in.of(part), crossbar.flit_ps);
  const Time last_crossed = std::max(paced, last_arrived) + crossbar.of(part);
  const Time one_before_crossed = std::max(paced, arrived + crossbar.flit_ps);
  return {last_crossed,
          std::max({link_free, now + crossbar.flit_ps, one_before_crossed - (before - 1) * link.flit_ps,
                    last_crossed - before * link.flit_ps}),
          last_arrived > paced};
}

/// How the blocks of one packet leave an input buffer, 16 bytes. Block k (from 0) leaves a switch's at
/// max(begun + (k + 1) crossbar, ready + (k + 1) in + crossbar), the last when cross() says; an adapter's as PCI
/// Express brings them to memory. What is asked for most, when the last leaves, is kept, and the rest follows from it.
class Drain {
 public:
  /// Out of a switch, whose crossing begins at `begun` >= ready. `pace` numbers that of the cable, below 2^11, where
  /// its owner has several. A lag beyond half a second is held as that: of no cable that is simulated (slowest_flit_ps)
  /// do 65 flits take so long, and so it is never the later of the two.
  static Drain from_switch(const Crossing& crossing, Time begun, Time ready, std::uint32_t bytes,
                           std::uint32_t pace = 0) {
    const std::uint32_t flits = flits_of(bytes);
    const auto lag = static_cast<std::uint64_t>(std::min(begun - ready, most_lag));
    return {crossing.crossed, flits | (bytes - (flits - 1) * flit_bytes - 1) << 7 | pace << 13 |
                                  std::uint64_t{crossing.by_cable} << 24 | lag << 25};
  }
  static Drain to_memory(Time begun, Time last, std::uint32_t flits) {
    return {last, flits | static_cast<std::uint64_t>(last - begun) << 7};
  }
  Drain() = default;

  std::uint32_t flits() const { return static_cast<std::uint32_t>(rest_) & 0x7f; }
  std::uint32_t pace() const { return static_cast<std::uint32_t>(rest_ >> 13) & 0x7ff; }  ///< from_switch()
  Time last() const { return last_; }  ///< when the last block leaves
  Time begun_to_memory() const { return last_ - static_cast<Time>(rest_ >> 7); }

  /// When this block, not the last, leaves a switch's buffer.
  Time block_from_switch(std::uint32_t block, Pace in, Pace crossbar) const {
    const Time blocks = block + 1, before = flits() - 1;
    const std::uint32_t last_bytes = (static_cast<std::uint32_t>(rest_ >> 7) & 0x3f) + 1;
    const Time last_begins = last_ - crossbar.of(last_bytes), lag = static_cast<Time>(rest_ >> 25);
    const bool by_cable = (rest_ >> 24 & 1) != 0;
    const Time begun = by_cable
                           ? last_begins - std::max(in.of(last_bytes), crossbar.flit_ps) - before * in.flit_ps + lag
                           : last_begins - before * crossbar.flit_ps;
    return std::max(begun + blocks * crossbar.flit_ps, begun - lag + blocks * in.flit_ps + crossbar.flit_ps);
  }

 private:
  static constexpr Time most_lag = (Time{1} << 39) - 1;
  Drain(Time last, std::uint64_t rest) : last_(last), rest_(rest) {}

  Time last_ = 0;
  std::uint64_t rest_ = 0;
};

/// The slowest link that is simulated: 1X SDR at simulate.link_slowdown's most.
inline constexpr Time slowest_flit_ps = 2'560'000'000;

/// A packet in an output buffer: it leaves at an even pace, and has left at `end`.
struct Departure {
  Time end = 0;
  std::uint32_t bytes = 0;
  std::uint32_t flit_ps = 0;
  std::uint32_t flits() const { return flits_of(bytes); }
  /// When so many of its bytes have left.
  Time left(std::uint32_t part) const { return end - Pace{flit_ps}.of(bytes) + Pace{flit_ps}.of(part); }
};

}  // namespace holdfast::simulate
