#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"
#include "fabric/tables/forwarding.h"

namespace holdfast::fabric {

/// Tables by which no route turns from down to up again, on switches that lie in levels. That is freedom from deadlock
/// in one lane, and whether a new entry keeps it is seen from this entry and the next alone: no dependencies of the
/// other routes are needed.
class UpDownTables {
 public:
  /// `level`: by row; every arc joins neighbouring levels (fat_tree_levels()).
  UpDownTables(const SwitchGraph& graph, std::vector<std::uint32_t> level) : graph_(graph), level_(std::move(level)) {}

  std::uint32_t level(std::uint32_t row) const { return level_[row]; }
  bool leads_up(std::uint32_t arc) const { return level_[graph_.arc(arc).to] > level_[graph_.arc(arc).from]; }

  /// Whether no route between adapters in these tables turns from down to up. Entries by which nobody sends, and those
  /// that lead into a dead cable, do not count. One look at each entry that leads down.
  bool holds(const Forwarding& tables, unsigned threads) const;

 private:
  bool some_route_turns(const Forwarding& tables, Lid lid) const;

  const SwitchGraph& graph_;
  std::vector<std::uint32_t> level_;
};

/// Whether the tables are those of a tree and turn no route from down to up: that is seen by a look at each entry,
/// where dependencies want a walk of each route. The tables then know it (Forwarding::up_down_levels()).
bool know_if_up_down(const SwitchGraph& graph, Forwarding& tables, unsigned threads);

}  // namespace holdfast::fabric
