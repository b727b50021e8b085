#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/status/status.h"
#include "fabric/routing/acyclic_dependencies.h"
#include "fabric/routing/engine.h"

namespace holdfast::fabric {

/// The arcs that tables lead along.
class ArcTables {
 public:
  ArcTables(const SwitchGraph& graph, const Forwarding& tables);
  /// The arc out of a switch for a LID; `none` at the destination's switch or without an entry.
  std::uint32_t next(std::uint32_t row, Lid lid) const { return arc_[row * 256U + tables_->out_port(row, lid)]; }
  /// The arcs of the way from a switch to a LID.
  void path(std::uint32_t row, Lid lid, std::vector<std::uint32_t>& arcs) const;

 private:
  const SwitchGraph* graph_;
  const Forwarding* tables_;
  std::vector<std::uint32_t> arc_;  // by row * 256 + port
};

/// A refusal in the words all engines use for it.
Status lanes_exhausted(std::string_view engine, unsigned needed, unsigned there);

/// The first lane whose dependencies let the whole path in, which then holds its dependencies; a new lane when none
/// does.
unsigned first_lane_for(const DependencySpace& space, const std::vector<std::uint32_t>& path,
                        std::deque<AcyclicDependencies>& lanes);

/// Gives every route between adapters a virtual lane (as its service level) such that no lane has a cycle of channel
/// dependencies, and returns how many lanes that took. The online form of J. Domke, T. Hoefler, W. Nagel,
/// "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS 2011, section III: route after route goes to the
/// first lane that stays acyclic, all routes to one destination together, since those of one tree rarely contradict one
/// another.
///
/// The number may be larger than what switches have; then only those below 16 are in the tables.
unsigned assign_lanes(const SwitchGraph& graph, Forwarding& tables, unsigned threads);

}  // namespace holdfast::fabric
