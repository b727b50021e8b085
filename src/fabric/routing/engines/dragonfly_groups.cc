#include "fabric/routing/engines/dragonfly_groups.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "fabric/routing/graph/grid.h"

namespace holdfast::fabric {
namespace {

using Beside = std::vector<std::vector<std::uint32_t>>;

/// Sets of rows that are joined step by step.
class Parts {
 public:
  explicit Parts(std::uint32_t rows) : parent_(rows) { std::iota(parent_.begin(), parent_.end(), 0U); }
  void join(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }
  DragonflyGroups groups() {
    DragonflyGroups groups;
    std::vector<std::uint32_t> number(parent_.size(), none);
    for (std::uint32_t row = 0; row < parent_.size(); ++row) {
      std::uint32_t& mine = number[find(row)];
      if (mine == none) mine = groups.count++;
      groups.of_row.push_back(mine);
    }
    return groups;
  }

 private:
  std::uint32_t find(std::uint32_t row) {
    for (; parent_[row] != row; row = parent_[row]) parent_[row] = parent_[parent_[row]];
    return row;
  }
  std::vector<std::uint32_t> parent_;
};

std::size_t common_neighbours(const Beside& beside, std::uint32_t a, std::uint32_t b) {
  std::vector<std::uint32_t> common;
  std::set_intersection(beside[a].begin(), beside[a].end(), beside[b].begin(), beside[b].end(),
                        std::back_inserter(common));
  return common.size();
}

/// Whether a cable leads from every group to every other.
bool all_groups_joined(const Beside& beside, const DragonflyGroups& groups) {
  std::vector<std::uint8_t> joined(std::size_t{groups.count} * groups.count, 0);
  for (std::uint32_t row = 0; row < beside.size(); ++row) {
    joined[std::size_t{groups.of_row[row]} * groups.count + groups.of_row[row]] = 1;
    for (const std::uint32_t other : beside[row])
      joined[std::size_t{groups.of_row[row]} * groups.count + groups.of_row[other]] = 1;
  }
  return std::find(joined.begin(), joined.end(), 0) == joined.end();
}

/// Routers with adapters, all of a group joined.
std::optional<DragonflyGroups> find_cliques(const Beside& beside) {
  const auto rows = static_cast<std::uint32_t>(beside.size());
  std::size_t most = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (const std::uint32_t other : beside[row]) most = std::max(most, common_neighbours(beside, row, other));
  }
  if (most == 0) return std::nullopt;
  Parts parts(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (const std::uint32_t other : beside[row]) {
      if (2 * common_neighbours(beside, row, other) >= most) parts.join(row, other);
    }
  }
  DragonflyGroups groups = parts.groups();
  std::vector<std::uint32_t> size(groups.count, 0);
  for (const std::uint32_t group : groups.of_row) ++size[group];
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto within = std::count_if(beside[row].begin(), beside[row].end(),
                                      [&](std::uint32_t other) { return groups.of_row[other] == groups.of_row[row]; });
    if (within + 1 != size[groups.of_row[row]] || within < 2) return std::nullopt;
  }
  return groups;
}

/// Leaves, and spines without adapters.
std::optional<DragonflyGroups> find_trees(const Beside& beside, const std::vector<std::uint8_t>& leaf) {
  const auto rows = static_cast<std::uint32_t>(beside.size());
  Parts parts(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (leaf[row] == 0) continue;
    for (const std::uint32_t other : beside[row]) {
      if (leaf[other] != 0) return std::nullopt;
      parts.join(row, other);
    }
  }
  DragonflyGroups groups = parts.groups();
  std::vector<std::uint8_t> has_leaf(groups.count, 0);
  for (std::uint32_t row = 0; row < rows; ++row) has_leaf[groups.of_row[row]] |= leaf[row];
  if (std::find(has_leaf.begin(), has_leaf.end(), 0) != has_leaf.end()) return std::nullopt;
  return groups;
}

}  // namespace

std::optional<DragonflyGroups> find_dragonfly_groups(const Fabric& fabric, const SwitchGraph& graph) {
  const Beside beside = rows_beside(fabric, graph);
  std::vector<std::uint8_t> leaf(graph.rows(), 0);
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    const Node& node = fabric.node(graph.switch_at(row));
    for (std::uint32_t port = 1; port <= node.port_count && leaf[row] == 0; ++port) {
      const LinkId link = fabric.port(node.first_port + port).link;
      if (link == none) continue;
      leaf[row] = !fabric.is_switch(fabric.port(fabric.link(link).a).node) ||
                          !fabric.is_switch(fabric.port(fabric.link(link).b).node)
                      ? 1
                      : 0;
    }
  }
  const bool all = std::find(leaf.begin(), leaf.end(), 0) == leaf.end();
  std::optional<DragonflyGroups> groups = all ? find_cliques(beside) : find_trees(beside, leaf);
  if (groups && (groups->count < 2 || !all_groups_joined(beside, *groups))) return std::nullopt;
  return groups;
}

}  // namespace holdfast::fabric
