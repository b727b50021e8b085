#pragma once

#include <algorithm>
#include <cstdint>

#include "simulate/kernel/time.h"
#include "simulate/packet/parameters.h"

/// Closed forms of one packet's way out of an input buffer: when it has crossed, when the link may take it up, and how
/// the blocks that it held become free. docs/design/simulator.md derives them.
namespace holdfast::simulate {

struct Crossing {
  Time crossed;  ///< when its last flit is in the output buffer
  Time start;    ///< when the link may begin: early enough to lose nothing, late enough that every flit is there when
                 ///< its turn on the link comes, since a packet is never interrupted on a link
};

/// A packet of `bytes` that crosses from `now` on; its flits come from a cable of pace `in`, the first one at `ready`
/// and the flit's time; the link is free from `link_free`.
inline Crossing cross(Time now, std::uint32_t bytes, Time ready, Pace in, Pace crossbar, Pace link, Time link_free) {
  const std::uint32_t flits = flits_of(bytes);
  if (flits == 1) {
    const Time crossed = now + crossbar.of(bytes);
    return {crossed, std::max(link_free, crossed)};
  }
  const Time before = flits - 1;
  const std::uint32_t part = bytes - (flits - 1) * flit_bytes;
  const Time paced = now + before * crossbar.flit_ps;  // by the crossbar
  const Time arrived = ready + before * in.flit_ps;    // by the cable: all flits but the last
  const Time last_begins = std::max(paced, arrived + std::max(in.of(part), crossbar.flit_ps));
  const Time last_crossed = last_begins + crossbar.of(part);
  const Time one_before_crossed = std::max(paced, arrived + crossbar.flit_ps);
  return {last_crossed, std::max({link_free, now + crossbar.flit_ps, one_before_crossed - (before - 1) * link.flit_ps,
                                  last_crossed - before * link.flit_ps})};
}

/// How the blocks of one packet leave an input buffer, 16 bytes. Block k (from 0) leaves a switch's at
/// max(begun + (k + 1) crossbar, ready + (k + 1) in + crossbar), the last at last(); an adapter's as PCI Express
/// brings them to memory.
class Drain {
 public:
  /// Out of a switch: begun >= ready. A lag beyond the 33 us that the slowest link (1X SDR) needs for 65 flits and some
  /// is held as that: the cable is then never the later of the two.
  static Drain from_switch(Time begun, Time ready, Time last, std::uint32_t flits) {
    const auto lag = static_cast<std::uint64_t>(std::min(begun - ready, most_lag));
    return {begun, flits | lag << 7 | static_cast<std::uint64_t>(last - begun) << 32};
  }
  static Drain to_memory(Time begun, Time last, std::uint32_t flits) {
    return {begun, flits | static_cast<std::uint64_t>(last - begun) << 7};
  }
  Drain() = default;

  std::uint32_t flits() const { return static_cast<std::uint32_t>(rest_) & 0x7f; }
  Time begun() const { return begun_; }
  Time last_from_switch() const { return begun_ + static_cast<Time>(rest_ >> 32); }
  Time last_to_memory() const { return begun_ + static_cast<Time>(rest_ >> 7); }

  /// When this block, not the last, leaves a switch's buffer.
  Time block_from_switch(std::uint32_t block, Pace in, Pace crossbar) const {
    const Time blocks = block + 1;
    const Time ready = begun_ - static_cast<Time>(rest_ >> 7 & most_lag);
    return std::max(begun_ + blocks * crossbar.flit_ps, ready + blocks * in.flit_ps + crossbar.flit_ps);
  }

 private:
  static constexpr Time most_lag = (1 << 25) - 1;
  Drain(Time begun, std::uint64_t rest) : begun_(begun), rest_(rest) {}

  Time begun_ = 0;
  std::uint64_t rest_ = 0;
};

/// A packet in an output buffer: it leaves at an even pace from `start`.
struct Departure {
  Time start = 0;
  std::uint32_t bytes = 0;
  std::uint32_t flits = 0;
};

}  // namespace holdfast::simulate
