#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/graph/acyclic_dependencies.h"

namespace holdfast::fabric {

/// Lets ways to one LID after another into a lane, as long as their dependencies close no cycle with those that are
/// there.
class LaneGuard {
 public:
  LaneGuard(const SwitchGraph& graph, const ArcTables& arcs) : graph_(graph), arcs_(arcs) {}

  /// For the next LID.
  void begin() {
    added_.clear();
    refused_ = false;
  }

  /// Adds the dependencies of the whole way to a LID of switch `to` that begins with this arc, or none of them. Those
  /// further on may be missing: a switch through which nobody sent has none.
  bool admit(std::uint32_t arc, Lid lid, std::uint32_t to, AcyclicDependencies& allowed);

  /// How many dependencies were added for this LID: add() takes those back that came after.
  std::size_t mark() const { return added_.size(); }
  /// One dependency. False where it would close a cycle; all that were added since `mark` are then taken back.
  bool add(std::uint32_t from, std::uint32_t to, std::size_t mark, AcyclicDependencies& allowed);

  /// Takes back the dependencies of switches through which no adapter at these rows sends to this LID: they would only
  /// be in the way of others.
  void drop_idle(Lid lid, const std::vector<std::uint32_t>& sources, AcyclicDependencies& allowed);

 private:
  const SwitchGraph& graph_;
  const ArcTables& arcs_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> added_;  // dependencies, for the LID at hand
  bool refused_ = false;                                        // whether any was
};

}  // namespace holdfast::fabric
