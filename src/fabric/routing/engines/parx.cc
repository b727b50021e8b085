#include "fabric/routing/engines/parx.h"

#include <algorithm>

#include "fabric/routing/engines/hyperx_plane.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/layers.h"

// PARX: J. Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree", SC 2019. A
// HyperX of two dimensions is cut into a left and a right half, and into an upper and a lower one. Towards each of an
// adapter's four LIDs (LMC 2) the cables within one of the halves are not used: between two switches of that half the
// paths lead by the other, which has cables to spare, and elsewhere they are shortest. Who sends chooses: the short way
// for short messages, the LIDs with detours for long ones. Lanes as by dfsssp. The paper also weighs paths by a
// recorded communication pattern; here every pair counts the same.

namespace holdfast::fabric {
namespace {

constexpr std::uint32_t halves = 4;

/// Shortest paths without the cables of one half; all shortest paths where failures leave none of those. Destinations
/// are row * layers + layer.
class HalvesRule {
 public:
  HalvesRule(const SwitchGraph& graph, const HyperXPlane& plane, std::uint32_t layers)
      : graph_(&graph), plane_(&plane), layers_(layers), minimal_(graph) {}

  void choices_to(std::uint32_t destination, Choices& choices) {
    const std::uint32_t row = destination / layers_;
    minimal_.choices_to(row, choices);
    const std::size_t reachable = choices.order.size();
    search(row, destination % layers_ % halves, shortest_);
    if (shortest_.order.size() == reachable) std::swap(choices, shortest_);
  }

 private:
  bool lies_in(std::uint32_t row, std::uint32_t half) const {
    const std::uint32_t dimension = half / 2;
    const bool second = 2 * plane_->place[row][dimension] >= plane_->size[dimension];
    return second == (half % 2 == 1);
  }
  bool allowed(const SwitchGraph::Arc& arc, std::uint32_t half) const {
    return !lies_in(arc.from, half) || !lies_in(arc.to, half);
  }

  void search(std::uint32_t row, std::uint32_t half, Choices& choices) {
    hops_.assign(graph_->rows(), none);
    hops_[row] = 0;
    choices.order.assign(1, row);
    for (std::size_t head = 0; head < choices.order.size(); ++head) {
      for (const SwitchGraph::Arc& arc : graph_->arcs_of(choices.order[head])) {
        if (hops_[arc.to] != none || !allowed(arc, half)) continue;
        hops_[arc.to] = hops_[choices.order[head]] + 1;
        choices.order.push_back(arc.to);
      }
    }
    choices.first.assign(2, 0);
    choices.arcs.clear();
    for (std::size_t i = 1; i < choices.order.size(); ++i) {
      const std::uint32_t from = choices.order[i];
      for (std::uint32_t id = graph_->first_arc(from); id < graph_->first_arc(from + 1); ++id) {
        const SwitchGraph::Arc& arc = graph_->arc(id);
        if (hops_[arc.to] != none && hops_[arc.to] + 1 == hops_[from] && allowed(arc, half)) choices.arcs.push_back(id);
      }
      choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
    }
  }

  const SwitchGraph* graph_;
  const HyperXPlane* plane_;
  std::uint32_t layers_;
  MinimalRule minimal_;
  Choices shortest_;
  std::vector<std::uint32_t> hops_;
};

}  // namespace

Result<Forwarding> route_parx(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  const std::optional<HyperXPlane> plane = find_hyperx_plane(fabric, graph);
  const auto refusal = [](std::string wrong, std::string remedy) {
    return Status(Code::bad_input, "routing with parx", std::move(wrong), std::move(remedy));
  };
  if (!plane) return refusal("the fabric is not a HyperX of two dimensions", "try lnmp, which routes any fabric");
  const std::uint32_t layers = layers_in(fabric, graph);
  if (layers < halves) return refusal("it gives each adapter four LIDs, and there are fewer", "give an LMC of 2");
  Forwarding tables = lay_layers(fabric, graph, layers, HalvesRule(graph, *plane, layers), options.threads);
  constexpr unsigned any_number = 255;
  const unsigned lanes = assign_lanes(graph, tables, any_number);
  if (lanes > options.lanes) return lanes_exhausted("parx", lanes, options.lanes);
  tables.lanes_needed = tables.lanes_used;
  spread_over_lanes(graph, tables, options.lanes);
  return tables;
}

}  // namespace holdfast::fabric
