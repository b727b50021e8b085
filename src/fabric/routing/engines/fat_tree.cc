#include "fabric/routing/engines/fat_tree.h"

#include <algorithm>
#include <string>

#include "fabric/routing/graph/choices.h"

namespace holdfast::fabric {
namespace {

Status not_a_fat_tree(std::string_view engine, const std::string& why) {
  return {Code::bad_input, "routing with " + std::string(engine), "the fabric is not a fat tree: " + why,
          "try updn or dfsssp, which route any fabric"};
}

std::vector<std::uint32_t> levels_below(const SwitchGraph& graph, const std::vector<NodeId>& roots) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (std::find(roots.begin(), roots.end(), graph.switch_at(row)) != roots.end()) rows.push_back(row);
  }
  std::vector<std::uint32_t> level = hops_from(graph, rows);
  std::uint32_t deepest = 0;
  for (const std::uint32_t depth : level) deepest = depth == none ? deepest : std::max(deepest, depth);
  for (std::uint32_t& depth : level) depth = depth == none ? none : deepest - depth;
  return level;
}

}  // namespace

Result<std::vector<std::uint32_t>> fat_tree_levels(const Fabric& fabric, const SwitchGraph& graph,
                                                   std::string_view engine, const EngineOptions& options) {
  std::vector<std::uint32_t> level =
      options.roots.empty() ? levels_above_adapters(graph) : levels_below(graph, options.roots);
  for (const SwitchGraph::Arc& arc : graph.arcs()) {
    if (level[arc.from] + 1 == level[arc.to] || level[arc.to] + 1 == level[arc.from]) continue;
    return not_a_fat_tree(engine, "a link joins " + fabric.node(graph.switch_at(arc.from)).name + " and " +
                                      fabric.node(graph.switch_at(arc.to)).name + ", which are on the same level");
  }
  return level;
}

Status no_way_up_and_down(const Fabric& fabric, const SwitchGraph& graph, std::string_view engine, std::uint32_t row) {
  return not_a_fat_tree(
      engine, "no way up and then down leads from " + fabric.node(graph.switch_at(row)).name + " to some other leaf");
}

}  // namespace holdfast::fabric
