#pragma once

#include <algorithm>
#include <cstdint>

#include "simulate/kernel/time.h"
#include "simulate/packet/parameters.h"

/// Closed forms of one packet's way out of an input buffer: when it has crossed, when the link may take it up, and how
/// the blocks that it held become free. docs/design/simulator.md derives them.
namespace holdfast::simulate {

/// When the last flit of so many, at least two, of `last_bytes`, has crossed, and the one before it: the first crosses
/// from `begun` on and was on its way from the cable, of pace `in`, since `ready`.
struct LastFlits {
  Time last;
  Time before;
};
inline LastFlits last_flits(Time begun, Time ready, std::uint32_t flits, std::uint32_t last_bytes, Pace in,
                            Pace crossbar) {
  const Time before = flits - 1;
  const Time paced = begun + before * crossbar.flit_ps;  // by the crossbar
  const Time arrived = ready + before * in.flit_ps;      // by the cable: all flits but the last
  const Time last_begins = std::max(paced, arrived + std::max(in.of(last_bytes), crossbar.flit_ps));
  return {last_begins + crossbar.of(last_bytes), std::max(paced, arrived + crossbar.flit_ps)};
}

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
  const LastFlits ends = last_flits(now, ready, flits, bytes - (flits - 1) * flit_bytes, in, crossbar);
  return {ends.last, std::max({link_free, now + crossbar.flit_ps, ends.before - (before - 1) * link.flit_ps,
                               ends.last - before * link.flit_ps})};
}

/// How the blocks of one packet leave an input buffer, 16 bytes. Block k (from 0) leaves a switch's at
/// max(begun + (k + 1) crossbar, ready + (k + 1) in + crossbar), the last when cross() says; an adapter's as PCI
/// Express brings them to memory.
class Drain {
 public:
  /// Out of a switch: begun >= ready. `pace` numbers that of the cable, below 2^11, where its owner has several. A lag
  /// beyond a second is held as that: of no cable that is simulated (slowest_flit_ps) do 65 flits take so long, and so
  /// it is never the later of the two.
  static Drain from_switch(Time begun, Time ready, std::uint32_t bytes, std::uint32_t pace = 0) {
    const std::uint32_t flits = flits_of(bytes);
    const auto lag = static_cast<std::uint64_t>(std::min(begun - ready, most_lag));
    return {begun, flits | (bytes - (flits - 1) * flit_bytes - 1) << 7 | std::uint64_t{pace} << 13 | lag << 24};
  }
  static Drain to_memory(Time begun, Time last, std::uint32_t flits) {
    return {begun, flits | static_cast<std::uint64_t>(last - begun) << 7};
  }
  Drain() = default;

  std::uint32_t flits() const { return static_cast<std::uint32_t>(rest_) & 0x7f; }
  std::uint32_t pace() const { return static_cast<std::uint32_t>(rest_ >> 13) & 0x7ff; }  ///< from_switch()
  Time begun() const { return begun_; }
  Time last_to_memory() const { return begun_ + static_cast<Time>(rest_ >> 7); }

  Time last_from_switch(Pace in, Pace crossbar) const {
    const std::uint32_t last_bytes = (static_cast<std::uint32_t>(rest_ >> 7) & 0x3f) + 1;
    if (flits() == 1) return begun_ + crossbar.of(last_bytes);
    return last_flits(begun_, ready(), flits(), last_bytes, in, crossbar).last;
  }
  /// When this block, not the last, leaves a switch's buffer.
  Time block_from_switch(std::uint32_t block, Pace in, Pace crossbar) const {
    const Time blocks = block + 1;
    return std::max(begun_ + blocks * crossbar.flit_ps, ready() + blocks * in.flit_ps + crossbar.flit_ps);
  }

 private:
  static constexpr Time most_lag = (Time{1} << 40) - 1;
  Drain(Time begun, std::uint64_t rest) : begun_(begun), rest_(rest) {}
  Time ready() const { return begun_ - static_cast<Time>(rest_ >> 24); }

  Time begun_ = 0;
  std::uint64_t rest_ = 0;
};

/// The slowest link that is simulated: 1X SDR at simulate.link_slowdown's most.
inline constexpr Time slowest_flit_ps = 2'560'000'000;

/// A packet in an output buffer: it leaves at an even pace from `start`.
struct Departure {
  Time start = 0;
  std::uint32_t bytes = 0;
  std::uint32_t flit_ps = 0;
  std::uint32_t flits() const { return flits_of(bytes); }
  /// When so many of its bytes have left.
  Time left(std::uint32_t part) const { return start + Pace{flit_ps}.of(part); }
};

}  // namespace holdfast::simulate
