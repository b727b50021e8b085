#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/status/status.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/acyclic_dependencies.h"

namespace holdfast::fabric {

/// The arcs that tables lead along.
class ArcTables {
 public:
  ArcTables(const SwitchGraph& graph, const Forwarding& tables);
  /// The arc out of a switch for a LID; `none` at the destination's switch or without an entry.
  std::uint32_t next(std::uint32_t row, Lid lid) const { return by_port(row, tables_->out_port(row, lid)); }
  /// The arc of the cable in this port of a switch; `none` without a working one to another switch.
  std::uint32_t by_port(std::uint32_t row, std::uint8_t port) const { return arc_[row * 256U + port]; }
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

/// Whether all routes between adapters together have no cycle of channel dependencies: one lane is enough then.
bool is_acyclic(const SwitchGraph& graph, const Forwarding& tables, unsigned threads);

/// Gives every route between adapters a virtual lane (as its service level) such that no lane has a cycle of channel
/// dependencies, and returns how many lanes that took; `most` + 1 when it would take more than `most` (up to 255), and
/// then the levels are of no use. The online form of J. Domke, T. Hoefler, W. Nagel, "Deadlock-Free Oblivious Routing
/// for Arbitrary Topologies", IPDPS 2011, section III: route after route goes to the first lane that stays acyclic, all
/// routes to one destination together, since those of one tree rarely contradict one another.
///
/// There are 16 levels: with more lanes they say nothing.
///
/// The first lane takes nearly all then. Where `there` lanes are fewer than two for each that is needed, so that
/// dealing lanes out in parts cannot help, routes are moved afterwards to the lane that carries least along their way,
/// of all that are there, as long as none has a cycle; tables.lanes_used says how many that took, 0 for `there`: none
/// is moved.
unsigned assign_lanes(const SwitchGraph& graph, Forwarding& tables, unsigned most, unsigned there = 0);

/// Deals the routes of lanes to more lanes, up to `available` (at most 16), so that fewer wait behind others: what
/// fills a lane most gets the next free one. A part of an acyclic lane is acyclic. Routes that need one lane, as on
/// trees, go each to the lane that carries least along its way, on large fabrics to that of its turn among leaves;
/// those of several take turns on the lanes of theirs (docs/design/routing.md says why). For tables whose lanes are
/// their service levels. Large: more than `routes_to_walk` routes of switches to adapters.
void spread_over_lanes(const SwitchGraph& graph, Forwarding& tables, unsigned available, unsigned threads = 1,
                       std::uint64_t routes_to_walk = 10'000'000);

}  // namespace holdfast::fabric
