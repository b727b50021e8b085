#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "fabric/routing/graph/acyclic_dependencies.h"

namespace holdfast::fabric {

/// An arc on one of its virtual lanes.
struct LaneOfArc {
  std::uint32_t arc = 0;
  std::uint8_t lane = 0;
  bool operator==(const LaneOfArc&) const = default;
};

/// The channel dependencies of routes that change their virtual lane on the way: whoever holds an arc's buffer on one
/// lane waits for the next arc's on the same lane or another. No cycle, no deadlock (W. Dally, C. Seitz, "Deadlock-Free
/// Message Routing in Multiprocessor Interconnection Networks", IEEE ToC C-36(5), 1987). Two bytes a pair of arcs.
class LaneDependencies {
 public:
  static constexpr std::uint8_t most_lanes = 4;

  /// Arcs and lanes (below most_lanes) as `space` numbers them, which outlives this.
  explicit LaneDependencies(const DependencySpace& space) : space_(&space), present_(space.size(), 0) {}

  /// `to` leaves the switch that `from` leads to. Several threads may add at once.
  void add(LaneOfArc from, LaneOfArc to) {
    const auto mask = static_cast<std::uint16_t>(1U << bit(from.lane, to.lane));
    const std::atomic_ref present(present_[space_->id(from.arc, to.arc)]);
    if ((present.load(std::memory_order_relaxed) & mask) == 0) present.fetch_or(mask, std::memory_order_relaxed);
  }
  bool has(LaneOfArc from, LaneOfArc to) const {
    return (present_[space_->id(from.arc, to.arc)] >> bit(from.lane, to.lane) & 1U) != 0;
  }

  /// Some that wait for one another in a circle, the last for the first; empty when none do. Time: lanes squared times
  /// the pairs of arcs.
  std::vector<LaneOfArc> find_cycle() const;

 private:
  static unsigned bit(std::uint8_t from, std::uint8_t to) { return from * unsigned{most_lanes} + to; }

  const DependencySpace* space_;
  std::vector<std::uint16_t> present_;  // by pair of arcs: a bit for each pair of lanes
};

}  // namespace holdfast::fabric
