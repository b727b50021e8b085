#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// Switches on a mesh or torus.
struct Grid {
  std::vector<std::uint32_t> size;   ///< by dimension
  std::vector<std::uint8_t> wraps;   ///< by dimension: its lines are rings
  std::vector<std::uint32_t> place;  ///< by row * dimensions + dimension

  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(size.size()); }
  std::uint32_t at(std::uint32_t row, std::uint32_t dimension) const { return place[row * dimensions() + dimension]; }
};

/// Finds the grid that the switches of a fabric lie on: as its generator said, otherwise from the cables, dead ones
/// included. Nothing when they are no grid: every cable must join neighbours of one dimension, every place be taken
/// at most once. Up to two cables of a torus or of a mesh of up to three dimensions may be missing altogether; of a
/// mesh only where it is small enough to try where they were (one of 100 switches, two of 25).
std::optional<Grid> find_grid(const Fabric& fabric, const SwitchGraph& graph);

/// Whether every working cable joins neighbours of one dimension, and no place is taken twice.
bool lies_on_grid(const SwitchGraph& graph, const Grid& grid);

/// The same grid with every two dimensions of 2, which a ring of four is too, read as that ring. With all cables both
/// route alike; where one is missing, a ring has the way round that two dimensions of 2 have not.
Grid with_rings_of_four(const Grid& grid);

/// By row: the rows that cables lead to, dead ones included, in order.
std::vector<std::vector<std::uint32_t>> rows_beside(const Fabric& fabric, const SwitchGraph& graph);

/// Where some rows have fewer neighbours than most, as in a torus of which cables were pulled out: in every way the
/// neighbours that there would be with cables between such rows. Nothing when all have as many, or when more than two
/// cables are missing.
std::vector<std::vector<std::vector<std::uint32_t>>> with_missing_cables(
    const std::vector<std::vector<std::uint32_t>>& beside);

/// The same as the generator's record of a mesh or a torus, for who reads that. Nothing for a fabric whose switches do
/// not come before its adapters, or of which some dimensions are rings and others lines.
std::optional<Structure> find_grid_structure(const Fabric& fabric);

/// The switch that lies `steps` (1 or -1) along a dimension of a mesh or torus; `none` beyond the edge of a mesh, and
/// where no switch is.
NodeId switch_along(const Structure& structure, NodeId from, std::size_t dimension, int steps);

}  // namespace holdfast::fabric
