#include "fabric/routing/engines/hyperx_plane.h"

#include <algorithm>

#include "fabric/routing/graph/grid.h"

namespace holdfast::fabric {
namespace {

using Joined = std::vector<std::vector<std::uint32_t>>;

bool are_joined(const Joined& beside, std::uint32_t a, std::uint32_t b) {
  return std::binary_search(beside[a].begin(), beside[a].end(), b);
}

/// Row 0 and those of its neighbours that are joined to this one, itself included.
std::vector<std::uint32_t> line_of(const Joined& beside, std::uint32_t neighbour) {
  std::vector<std::uint32_t> line = {0};
  for (const std::uint32_t row : beside[0]) {
    if (row == neighbour || are_joined(beside, row, neighbour)) line.push_back(row);
  }
  return line;
}

bool has_the_cables_of(const HyperXPlane& plane, const Joined& beside) {
  std::vector<std::uint8_t> taken(std::size_t{plane.size[0]} * plane.size[1], 0);
  for (std::uint32_t row = 0; row < beside.size(); ++row) {
    const auto& at = plane.place[row];
    std::uint8_t& here = taken[std::size_t{at[0]} * plane.size[1] + at[1]];
    if (here != 0 || beside[row].size() != plane.size[0] + plane.size[1] - 2) return false;
    here = 1;
    for (const std::uint32_t other : beside[row]) {
      if ((plane.place[other][0] == at[0]) == (plane.place[other][1] == at[1])) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<HyperXPlane> find_hyperx_plane(const Fabric& fabric, const SwitchGraph& graph) {
  const Joined beside = rows_beside(fabric, graph);
  if (beside.empty() || beside[0].empty()) return std::nullopt;
  const std::vector<std::uint32_t> along = line_of(beside, beside[0].front());
  const auto off = std::find_if(beside[0].begin(), beside[0].end(), [&](std::uint32_t row) {
    return std::find(along.begin(), along.end(), row) == along.end();
  });
  if (off == beside[0].end()) return std::nullopt;
  const std::vector<std::uint32_t> across = line_of(beside, *off);
  HyperXPlane plane;
  plane.size = {static_cast<std::uint32_t>(along.size()), static_cast<std::uint32_t>(across.size())};
  if (std::size_t{plane.size[0]} * plane.size[1] != beside.size()) return std::nullopt;
  plane.place.assign(beside.size(), {none, none});
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::vector<std::uint32_t>& line = i == 0 ? along : across;
    for (std::uint32_t at = 0; at < line.size(); ++at) {
      plane.place[line[at]][i] = at;
      plane.place[line[at]][1 - i] = 0;
    }
  }
  for (std::uint32_t row = 0; row < beside.size(); ++row) {
    if (plane.place[row][0] != none) continue;
    for (std::uint32_t at = 1; at < along.size(); ++at) {
      if (are_joined(beside, row, along[at])) plane.place[row][0] = at;
    }
    for (std::uint32_t at = 1; at < across.size(); ++at) {
      if (are_joined(beside, row, across[at])) plane.place[row][1] = at;
    }
    if (plane.place[row][0] == none || plane.place[row][1] == none) return std::nullopt;
  }
  if (!has_the_cables_of(plane, beside)) return std::nullopt;
  return plane;
}

}  // namespace holdfast::fabric
