#include "fabric/routing/engines/lane_loops.h"

#include "core/parallel/parallel_for.h"
#include "fabric/routing/engines/lanes.h"

namespace holdfast::fabric {
namespace {

/// Adds what the routes to one LID after another hold while they wait for the next arc.
class RouteWalker {
 public:
  RouteWalker(const Fabric& fabric, const SwitchGraph& graph, const Forwarding& tables, const ArcTables& arcs,
              LaneDependencies& found)
      : fabric_(fabric),
        graph_(graph),
        tables_(tables),
        arcs_(arcs),
        found_(found),
        passed_(graph.arcs().size() * LaneDependencies::most_lanes, 0) {}

  void walk_to(Lid lid) {
    for (std::uint32_t source = 0; source < graph_.rows(); ++source) {
      if (graph_.sources_at(source) != 0) walk(source, lid);
    }
    for (const std::size_t at : touched_) passed_[at] = 0;
    touched_.clear();
  }

 private:
  void walk(std::uint32_t row, Lid lid) {
    const std::uint8_t level = tables_.service_level(row, 0, lid);
    if (level >= 16) return;
    std::uint8_t in = graph_.terminals_at(row).empty() ? std::uint8_t{0} : graph_.terminals_at(row).front().port;
    LaneOfArc held;
    bool holds = false;
    for (std::uint32_t arc = arcs_.next(row, lid); arc != none; arc = arcs_.next(row, lid)) {
      const std::uint8_t out = tables_.out_port(row, lid);
      const LaneOfArc wanted = {arc, tables_.lane(row, in, out, level)};
      if (holds) found_.add(held, wanted);
      std::uint16_t& levels = passed_[arc * std::size_t{LaneDependencies::most_lanes} + wanted.lane];
      if ((levels >> level & 1U) != 0) return;
      if (levels == 0) touched_.push_back(arc * std::size_t{LaneDependencies::most_lanes} + wanted.lane);
      levels = static_cast<std::uint16_t>(levels | 1U << level);
      const PortId far = fabric_.peer(fabric_.port_of(graph_.switch_at(row), out));
      in = static_cast<std::uint8_t>(fabric_.number_of(far));
      row = graph_.arc(arc).to;
      held = wanted;
      holds = true;
    }
  }

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  const Forwarding& tables_;
  const ArcTables& arcs_;
  LaneDependencies& found_;
  std::vector<std::uint16_t> passed_;  // by arc and lane: a bit for each level whose way on is known, for this LID
  std::vector<std::size_t> touched_;
};

}  // namespace

std::vector<LaneOfArc> find_lane_loop(const Fabric& fabric, const SwitchGraph& graph, const Forwarding& tables,
                                      unsigned threads) {
  const ArcTables arcs(graph, tables);
  const DependencySpace space(graph);
  LaneDependencies found(space);
  parallel::parallel_for(graph.terminals().size(), 64, threads, [&](unsigned, std::size_t begin, std::size_t end) {
    RouteWalker walker(fabric, graph, tables, arcs, found);
    for (std::size_t i = begin; i < end; ++i) walker.walk_to(graph.terminals()[i].lid);
  });
  return found.find_cycle();
}

std::string text_of(const Fabric& fabric, const SwitchGraph& graph, const std::vector<LaneOfArc>& loop) {
  const auto name = [&](const LaneOfArc& at) { return fabric.node(graph.switch_at(graph.arc(at.arc).from)).name; };
  std::string text;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    if (i == 0 || loop[i].lane != loop[i - 1].lane)
      text += (i == 0 ? "lane " : ", lane ") + std::to_string(loop[i].lane) + ": ";
    else
      text += " -> ";
    text += name(loop[i]);
  }
  return loop.empty() ? text : text + " -> " + name(loop.front());
}

}  // namespace holdfast::fabric
