#pragma once

#include <cstdint>
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

/// Gives every route between adapters a virtual lane (as its service level) such that no lane has a cycle of channel
/// dependencies, in as few lanes as it finds, and returns how many. After J. Domke, T. Hoefler, W. Nagel,
/// "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS 2011, section III: routes over the weakest
/// dependencies of a lane's cycles move to the next lane. Here a lane keeps its dependencies in the order of how many
/// routes need them, as long as they close no cycle; then routes that had to leave come back where what is left has
/// room for them. The number may be larger than what switches have; then only those below 16 are in the tables.
unsigned assign_lanes(const SwitchGraph& graph, Forwarding& tables, unsigned threads);

}  // namespace holdfast::fabric
