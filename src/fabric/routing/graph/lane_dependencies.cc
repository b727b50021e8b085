#include "fabric/routing/graph/lane_dependencies.h"

namespace holdfast::fabric {
namespace {

/// A place of a depth-first search, and the next step to try from there.
struct Stop {
  LaneOfArc at;
  std::uint32_t next = 0;  // arc out of the switch behind, times lanes, plus lane
};

enum class Look : std::uint8_t { no, on_way, done };

}  // namespace

std::vector<LaneOfArc> LaneDependencies::find_cycle() const {
  const SwitchGraph& graph = space_->graph();
  std::vector<Look> seen(graph.arcs().size() * most_lanes, Look::no);
  const auto mark = [&](const LaneOfArc& at) -> Look& { return seen[at.arc * std::size_t{most_lanes} + at.lane]; };
  std::vector<Stop> way;
  const auto go_to = [&](const LaneOfArc& at) {
    mark(at) = Look::on_way;
    way.push_back({at, 0});
  };
  for (std::uint32_t start = 0; start < seen.size(); ++start) {
    if (seen[start] != Look::no) continue;
    go_to({start / most_lanes, static_cast<std::uint8_t>(start % most_lanes)});
    while (!way.empty()) {
      const LaneOfArc at = way.back().at;
      const std::uint32_t behind = graph.arc(at.arc).to;
      const auto steps = static_cast<std::uint32_t>(graph.arcs_of(behind).size()) * most_lanes;
      if (way.back().next == steps) {
        mark(at) = Look::done;
        way.pop_back();
        continue;
      }
      const std::uint32_t step = way.back().next++;
      const LaneOfArc to = {graph.first_arc(behind) + step / most_lanes, static_cast<std::uint8_t>(step % most_lanes)};
      if (!has(at, to) || mark(to) == Look::done) continue;
      if (mark(to) == Look::no) {
        go_to(to);
        continue;
      }
      std::vector<LaneOfArc> cycle;
      for (auto back = way.rbegin();; ++back) {
        cycle.insert(cycle.begin(), back->at);
        if (back->at == to) return cycle;
      }
    }
  }
  return {};
}

}  // namespace holdfast::fabric
