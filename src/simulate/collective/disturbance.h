#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/kernel/time.h"

/// What goes wrong during a collective.
namespace holdfast::simulate::collective {

enum class Direction : std::uint8_t { up, down };  ///< towards the root, towards the hosts

inline constexpr std::uint32_t all_wires = 0xFFFFFFFF;
inline constexpr std::uint8_t all_channels = 0xFF;

/// The next `count` data packets that are still good on these channels get a bit error.
struct NamedError {
  std::uint32_t wire = all_wires;
  Direction direction = Direction::up;
  std::uint8_t channel = all_channels;
  std::uint8_t count = 1;
};

/// A moment at which a wire suffers, in both directions.
struct Strike {
  Time at = 0;
  std::uint32_t wire = all_wires;
  std::uint8_t channel = all_channels;
};

/// From this moment on the wire carries nothing.
struct Cut {
  Time at = 0;
  std::uint32_t wire = 0;
};

struct Disturbance {
  std::vector<NamedError> named;
  std::vector<Strike> strikes;      ///< in the order of time
  bool strikes_wait = false;        ///< a strike that meets no data packet on a channel hits the next one there
  bool strikes_are_bursts = false;  ///< a strike hits the further copies of the same transmission too
  /// Strikes that waited before the collective began: by Engine::channel_index(), 1 where the next data packet is hit
  /// as by one of them. Empty: none.
  std::vector<std::uint8_t> waiting{};
  bool hits_lose = false;  ///< what is hit is gone, rather than corrupted: ErrorEffect::lose
  std::vector<Cut> cuts;
  /// Which bits are inverted in a packet that is hit: random ones drawn from this seed, or, where given, the bits of
  /// this mask (from the packet's first byte on).
  std::uint64_t bits_seed = 0;
  std::uint32_t bits = 1;
  std::vector<std::byte> mask;
};

}  // namespace holdfast::simulate::collective
