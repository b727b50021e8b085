#include <deque>

#include "fabric/routing/balance.h"
#include "fabric/routing/lanes.h"
#include "fabric/routing/native_engines.h"

namespace holdfast::fabric {
namespace {

/// The choices left when each switch has settled on one arc: its parallel channels.
void narrow_to_arcs(const SwitchGraph& graph, const Choices& from, const std::vector<std::uint32_t>& picks,
                    Choices& to) {
  to.order = from.order;
  to.first.assign(2, 0);
  to.channels.clear();
  for (std::size_t i = 1; i < picks.size(); ++i) {
    const SwitchGraph::Arc& arc = graph.arc(graph.channels()[picks[i]].arc);
    for (std::uint32_t channel = 0; channel < arc.channels; ++channel)
      to.channels.push_back(arc.first_channel + channel);
    to.first.push_back(static_cast<std::uint32_t>(to.channels.size()));
  }
}

/// The first lane whose dependencies let the path in; a new one when none does. Numbers grow without bound.
unsigned first_fit(const DependencySpace& space, const std::vector<std::uint32_t>& path,
                   std::deque<AcyclicDependencies>& lanes) {
  for (unsigned lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].add_path(path)) return lane;
  }
  lanes.emplace_back(space);
  lanes.back().add_path(path);
  return static_cast<unsigned>(lanes.size() - 1);
}

}  // namespace

Result<Forwarding> route_lash(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  Forwarding tables = graph.local_tables(fabric);
  Balance balance(graph);
  Choices one_arc;
  const auto by_path = [](Balance& by, const Choices& among, bool counts) { by.pick_by_path(among, counts); };
  for_each_destination(graph, MinimalRule(graph), options.threads, [&](std::uint32_t row, const Choices& choices) {
    balance.pick_by_path(choices, false);
    narrow_to_arcs(graph, choices, balance.picks(), one_arc);
    lay_routes(graph, row, one_arc, balance, tables, by_path);
    return true;
  });

  const ArcTables arcs(graph, tables);
  const DependencySpace space(graph);
  std::deque<AcyclicDependencies> lanes;
  lanes.emplace_back(space);
  std::vector<std::uint32_t> path;
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    if (graph.sources_at(source) == 0) continue;
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      if (graph.terminals_at(row).empty() || row == source) continue;
      arcs.path(source, graph.terminals_at(row).front().lid, path);
      const unsigned lane = first_fit(space, path, lanes);
      if (lane >= 255) return lanes_exhausted("lash", lane + 1, options.lanes);
      if (lane == 0) continue;
      for (const SwitchGraph::Terminal& terminal : graph.terminals_at(row)) {
        tables.set_service_level(source, 0, terminal.lid, static_cast<std::uint8_t>(std::min(lane, 15U)));
      }
    }
  }
  if (lanes.size() > options.lanes) return lanes_exhausted("lash", static_cast<unsigned>(lanes.size()), options.lanes);
  tables.lanes_used = static_cast<std::uint8_t>(lanes.size());
  return tables;
}

}  // namespace holdfast::fabric
