#include "fabric/routing/graph/grid.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace holdfast::fabric {
namespace {

std::optional<Grid> grid_of_structure(const Fabric& fabric, const SwitchGraph& graph) {
  const Structure& structure = fabric.structure();
  if (structure.shape != Shape::mesh && structure.shape != Shape::torus) return std::nullopt;
  if (structure.extent.empty() || structure.coordinates.size() != graph.rows() * structure.extent.size()) {
    return std::nullopt;
  }
  Grid grid;
  grid.size = structure.extent;
  for (const std::uint32_t size : grid.size) grid.wraps.push_back(structure.shape == Shape::torus && size > 2 ? 1 : 0);
  grid.place = structure.coordinates;
  return grid;
}

/// Finds a grid by its squares. Opposite sides of a square lie in one class: on a grid, a class is all cables from one
/// coordinate of one dimension to the next. Classes that share a square are of different dimensions; classes of one
/// dimension never do. Taking a dimension's cables away leaves its layers, in the order of its coordinates. A ring of 4
/// is a square itself, and is found as two dimensions of 2, which it also is.
class GridFinder {
 public:
  explicit GridFinder(std::vector<std::vector<std::uint32_t>> neighbours) : neighbours_(std::move(neighbours)) {
    for (std::uint32_t row = 0; row < neighbours_.size(); ++row) {
      for (const std::uint32_t to : neighbours_[row]) {
        if (row < to) edge_.emplace(std::pair(row, to), static_cast<std::uint32_t>(edge_.size()));
      }
    }
    class_.resize(edge_.size());
    std::iota(class_.begin(), class_.end(), 0U);
  }

  std::optional<Grid> find() {
    for (const auto& row : neighbours_) {
      if (row.empty() || row.size() > 12) return std::nullopt;  // too many for a grid of up to 6 dimensions
    }
    join_squares();
    const std::vector<std::uint32_t> dimension = dimensions_of_classes();
    Grid grid;
    for (std::uint32_t d = 0; d < dimensions_; ++d) {
      if (!number_layers(dimension, d, grid)) return std::nullopt;
    }
    if (dimensions_ == 0) return std::nullopt;
    transpose(grid);
    return grid;
  }

 private:
  std::uint32_t edge(std::uint32_t a, std::uint32_t b) const { return edge_.at(std::minmax(a, b)); }
  std::uint32_t root(std::uint32_t edge) {
    while (class_[edge] != edge) edge = class_[edge] = class_[class_[edge]];
    return edge;
  }

  template <class Visit>
  void for_each_square(const Visit& visit) {
    for (std::uint32_t v = 0; v < neighbours_.size(); ++v) {
      for (const std::uint32_t a : neighbours_[v]) {
        for (const std::uint32_t b : neighbours_[v]) {
          if (a >= b) continue;
          for (const std::uint32_t c : neighbours_[a]) {
            if (c != v && std::binary_search(neighbours_[b].begin(), neighbours_[b].end(), c)) visit(v, a, c, b);
          }
        }
      }
    }
  }

  void join_squares() {
    for_each_square([&](std::uint32_t v, std::uint32_t a, std::uint32_t c, std::uint32_t b) {
      class_[root(edge(v, a))] = root(edge(b, c));
      class_[root(edge(v, b))] = root(edge(a, c));
    });
  }

  /// By edge. Two classes that never share a square are of one dimension.
  std::vector<std::uint32_t> dimensions_of_classes() {
    std::map<std::uint32_t, std::uint32_t> number;  // of a class, by its root
    for (std::uint32_t e = 0; e < class_.size(); ++e)
      number.emplace(root(e), static_cast<std::uint32_t>(number.size()));
    std::set<std::pair<std::uint32_t, std::uint32_t>> crossing;
    for_each_square([&](std::uint32_t v, std::uint32_t a, std::uint32_t, std::uint32_t b) {
      crossing.insert(std::minmax(number[root(edge(v, a))], number[root(edge(v, b))]));
    });
    std::vector<std::uint32_t> dimension(number.size(), none);
    for (std::uint32_t first = 0; first < number.size(); ++first) {
      if (dimension[first] != none) continue;
      std::vector<std::uint32_t> open = {first};
      dimension[first] = dimensions_;
      while (!open.empty()) {
        const std::uint32_t one = open.back();
        open.pop_back();
        for (std::uint32_t other = 0; other < number.size(); ++other) {
          if (dimension[other] != none || crossing.count(std::minmax(one, other)) != 0) continue;
          dimension[other] = dimensions_;
          open.push_back(other);
        }
      }
      ++dimensions_;
    }
    std::vector<std::uint32_t> by_edge;
    for (std::uint32_t e = 0; e < class_.size(); ++e) by_edge.push_back(dimension[number[root(e)]]);
    return by_edge;
  }

  /// Appends the coordinate of each row in dimension d to grid.place; false when the layers are neither a line nor a
  /// ring.
  bool number_layers(const std::vector<std::uint32_t>& dimension, std::uint32_t d, Grid& grid) const {
    const auto rows = static_cast<std::uint32_t>(neighbours_.size());
    std::vector<std::uint32_t> layer(rows, none);
    std::uint32_t layers = 0;
    for (std::uint32_t start = 0; start < rows; ++start) {
      if (layer[start] != none) continue;
      std::vector<std::uint32_t> open = {start};
      layer[start] = layers;
      while (!open.empty()) {
        const std::uint32_t row = open.back();
        open.pop_back();
        for (const std::uint32_t to : neighbours_[row]) {
          if (layer[to] != none || dimension[edge(row, to)] == d) continue;
          layer[to] = layers;
          open.push_back(to);
        }
      }
      ++layers;
    }
    std::vector<std::set<std::uint32_t>> beside(layers);
    for (const auto& [ends, id] : edge_) {
      if (dimension[id] != d) continue;
      if (layer[ends.first] == layer[ends.second]) return false;
      beside[layer[ends.first]].insert(layer[ends.second]);
      beside[layer[ends.second]].insert(layer[ends.first]);
    }
    std::uint32_t start = 0;
    std::uint32_t ends = 0;
    for (std::uint32_t i = layers; i > 0;) {
      --i;
      if (beside[i].empty() || beside[i].size() > 2) return false;
      if (beside[i].size() != 1) continue;
      ++ends;
      start = i;
    }
    std::vector<std::uint32_t> coordinate(layers, none);
    std::uint32_t count = 0;
    for (std::uint32_t at = start; at != none;) {
      coordinate[at] = count++;
      std::uint32_t next = none;
      for (const std::uint32_t to : beside[at]) {
        if (coordinate[to] == none && next == none) next = to;
      }
      at = next;
    }
    if (count != layers) return false;
    grid.size.push_back(layers);
    grid.wraps.push_back(ends == 0 ? 1 : 0);
    for (std::uint32_t row = 0; row < rows; ++row) grid.place.push_back(coordinate[layer[row]]);
    return true;
  }

  void transpose(Grid& grid) const {
    const std::vector<std::uint32_t> by_dimension = grid.place;
    const std::size_t rows = neighbours_.size();
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t d = 0; d < dimensions_; ++d) grid.place[row * dimensions_ + d] = by_dimension[d * rows + row];
    }
  }

  std::vector<std::vector<std::uint32_t>> neighbours_;  // by row
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> edge_;
  std::vector<std::uint32_t> class_;  // by edge: union-find
  std::uint32_t dimensions_ = 0;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> rows_beside(const Fabric& fabric, const SwitchGraph& graph) {
  std::vector<std::uint32_t> row_of(fabric.nodes().size(), none);
  for (std::uint32_t row = 0; row < graph.rows(); ++row) row_of[graph.switch_at(row)] = row;
  std::vector<std::vector<std::uint32_t>> neighbours(graph.rows());
  for (const Link& link : fabric.links()) {
    const std::uint32_t a = row_of[fabric.port(link.a).node];
    const std::uint32_t b = row_of[fabric.port(link.b).node];
    if (a == none || b == none || a == b) continue;
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  for (std::vector<std::uint32_t>& beside : neighbours) {
    std::ranges::sort(beside);
    beside.erase(std::unique(beside.begin(), beside.end()), beside.end());  // clang 14 has no ranges::unique
  }
  return neighbours;
}

namespace {

using Neighbours = std::vector<std::vector<std::uint32_t>>;

Neighbours joined(Neighbours beside, std::uint32_t a, std::uint32_t b) {
  beside[a].insert(std::ranges::upper_bound(beside[a], b), b);
  beside[b].insert(std::ranges::upper_bound(beside[b], a), a);
  return beside;
}

/// Joins the first of the rows to each of the others in turn, and what is left likewise.
void join_in_pairs(std::vector<std::uint32_t> rows, const Neighbours& beside, std::vector<Neighbours>& wholes) {
  if (rows.empty()) {
    wholes.push_back(beside);
    return;
  }
  const std::uint32_t a = rows.back();
  rows.pop_back();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t b = rows[i];
    if (a == b || std::ranges::binary_search(beside[a], b)) continue;
    std::vector<std::uint32_t> rest = rows;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    join_in_pairs(std::move(rest), joined(beside, a, b), wholes);
  }
}

}  // namespace

std::vector<Neighbours> with_missing_cables(const Neighbours& beside) {
  constexpr std::size_t most_ends = 4;  // three ways to join them in pairs
  std::size_t degree = 0;
  for (const auto& rows : beside) degree = std::max(degree, rows.size());
  std::vector<std::uint32_t> ends;  // a row stands there once for each neighbour that it lacks
  for (std::uint32_t row = 0; row < beside.size() && ends.size() <= most_ends; ++row)
    ends.insert(ends.end(), degree - beside[row].size(), row);
  std::vector<Neighbours> wholes;
  if (!ends.empty() && ends.size() <= most_ends && ends.size() % 2 == 0) join_in_pairs(std::move(ends), beside, wholes);
  return wholes;
}

namespace {

/// Whether every place is taken and every cable of the grid is there.
bool is_complete(const Grid& grid, const Neighbours& beside) {
  std::size_t places = 1;
  for (const std::uint32_t size : grid.size) places *= size;
  std::size_t ends = 0;  // of cables
  for (std::size_t d = 0; d < grid.size.size(); ++d)
    ends += 2 * (places - (grid.wraps[d] != 0 ? 0 : places / grid.size[d]));
  std::size_t there = 0;
  for (const auto& rows : beside) there += rows.size();
  return places == beside.size() && there == ends;
}

/// Pairs of rows that one more cable would make the ends of a side of a square: those with a way of three cables
/// between them and no shorter one.
std::vector<std::pair<std::uint32_t, std::uint32_t>> open_squares(const Neighbours& beside) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t a = 0; a < beside.size(); ++a) {
    std::set<std::uint32_t> nearer = {a};
    for (const std::uint32_t c : beside[a]) {
      nearer.insert(c);
      nearer.insert(beside[c].begin(), beside[c].end());
    }
    std::set<std::uint32_t> third;
    for (const std::uint32_t c : nearer)
      for (const std::uint32_t b : beside[c])
        if (b > a && !nearer.contains(b)) third.insert(b);
    for (const std::uint32_t b : third) pairs.emplace_back(a, b);
  }
  return pairs;
}

/// Whether rows can be coloured like a chessboard. Meshes can, and few other networks.
bool has_two_colours(const Neighbours& beside) {
  std::vector<std::uint8_t> colour(beside.size(), 0);
  for (std::uint32_t start = 0; start < beside.size(); ++start) {
    if (colour[start] != 0) continue;
    std::vector<std::uint32_t> open = {start};
    colour[start] = 1;
    while (!open.empty()) {
      const std::uint32_t row = open.back();
      open.pop_back();
      for (const std::uint32_t to : beside[row]) {
        if (colour[to] == colour[row]) return false;
        if (colour[to] == 0) open.push_back(to);
        colour[to] = static_cast<std::uint8_t>(3 - colour[row]);
      }
    }
  }
  return true;
}

/// Whether some mesh of two or three dimensions has so many rows, and so many cables with the missing ones.
bool counts_as_mesh(const Neighbours& beside, std::size_t missing) {
  std::size_t ends = 2 * missing;
  for (const auto& row : beside) ends += row.size();
  const std::size_t rows = beside.size();
  for (std::size_t a = 1; a <= rows; ++a) {
    if (rows % a != 0) continue;
    for (std::size_t b = a; b <= rows / a; ++b) {
      if (rows / a % b != 0) continue;
      const std::size_t c = rows / a / b;
      if (ends == 2 * (3 * rows - rows / a - rows / b - rows / c)) return true;
    }
  }
  return false;
}

/// The whole mesh that up to `missing` further cables make of this, tried one after the other: its edge has fewer
/// cables by itself, so that their number does not tell where one is missing. A look at a row costs one of `looks`.
std::optional<Grid> find_mesh_without_cables(const Neighbours& beside, unsigned missing, std::size_t& looks) {
  for (const auto& [a, b] : open_squares(beside)) {
    if (looks < beside.size()) return std::nullopt;
    looks -= beside.size();
    const Neighbours more = joined(beside, a, b);
    const std::optional<Grid> grid = GridFinder(more).find();
    if (grid && is_complete(*grid, more)) return grid;
    if (missing == 1) continue;
    if (auto deeper = find_mesh_without_cables(more, missing - 1, looks)) return deeper;
  }
  return std::nullopt;
}

}  // namespace

bool lies_on_grid(const SwitchGraph& graph, const Grid& grid) {
  std::set<std::vector<std::uint32_t>> taken;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    const auto first = grid.place.begin() + static_cast<std::ptrdiff_t>(row * grid.dimensions());
    if (!taken.insert({first, first + grid.dimensions()}).second) return false;
  }
  return std::all_of(graph.arcs().begin(), graph.arcs().end(), [&](const SwitchGraph::Arc& arc) {
    std::uint32_t steps = 0;
    for (std::uint32_t d = 0; d < grid.dimensions(); ++d) {
      const std::uint32_t a = grid.at(arc.from, d);
      const std::uint32_t b = grid.at(arc.to, d);
      if (a == b) continue;
      const std::uint32_t apart = a > b ? a - b : b - a;
      steps += apart == 1 || (grid.wraps[d] != 0 && apart == grid.size[d] - 1) ? 1 : 2;
    }
    return steps == 1;
  });
}

std::optional<Grid> find_grid(const Fabric& fabric, const SwitchGraph& graph) {
  std::optional<Grid> grid = grid_of_structure(fabric, graph);
  if (grid) return lies_on_grid(graph, *grid) ? grid : std::nullopt;
  const std::vector<std::vector<std::uint32_t>> beside = rows_beside(fabric, graph);
  grid = GridFinder(beside).find();
  if (grid && lies_on_grid(graph, *grid)) return grid;
  for (const auto& whole : with_missing_cables(beside)) {
    grid = GridFinder(whole).find();
    if (grid && lies_on_grid(graph, *grid)) return grid;
  }
  if (!has_two_colours(beside)) return std::nullopt;
  for (const unsigned missing : {1U, 2U}) {
    if (!counts_as_mesh(beside, missing)) continue;
    std::size_t looks = 100'000;
    grid = find_mesh_without_cables(beside, missing, looks);
    if (grid && lies_on_grid(graph, *grid)) return grid;
  }
  return std::nullopt;
}

Grid with_rings_of_four(const Grid& grid) {
  constexpr std::array<std::uint32_t, 4> along = {0, 1, 3, 2};  // by 2 * first + second: neighbours differ in one
  std::vector<std::uint32_t> others;
  std::vector<std::uint32_t> twos;
  for (std::uint32_t d = 0; d < grid.dimensions(); ++d)
    (grid.size[d] == 2 && grid.wraps[d] == 0 ? twos : others).push_back(d);
  if (twos.size() % 2 == 1) {
    others.push_back(twos.back());
    twos.pop_back();
  }
  Grid made;
  for (const std::uint32_t d : others) {
    made.size.push_back(grid.size[d]);
    made.wraps.push_back(grid.wraps[d]);
  }
  made.size.insert(made.size.end(), twos.size() / 2, 4U);
  made.wraps.insert(made.wraps.end(), twos.size() / 2, 1);
  const std::size_t rows = grid.dimensions() == 0 ? 0 : grid.place.size() / grid.dimensions();
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (const std::uint32_t d : others) made.place.push_back(grid.at(row, d));
    for (std::size_t i = 0; i < twos.size(); i += 2)
      made.place.push_back(along[2 * grid.at(row, twos[i]) + grid.at(row, twos[i + 1])]);
  }
  return made;
}

NodeId switch_along(const Structure& structure, NodeId from, std::size_t dimension, int steps) {
  const auto start = structure.at(from);
  std::vector<std::uint32_t> place(start.begin(), start.end());
  const auto size = static_cast<int>(structure.extent[dimension]);
  const int moved = static_cast<int>(place[dimension]) + steps;
  if (structure.shape == Shape::mesh && (moved < 0 || moved >= size)) return none;
  place[dimension] = static_cast<std::uint32_t>((moved + size) % size);
  const auto switches = static_cast<NodeId>(structure.coordinates.size() / structure.extent.size());
  for (NodeId node = 0; node < switches; ++node) {
    if (std::ranges::equal(structure.at(node), place)) return node;
  }
  return none;
}

std::optional<Structure> find_grid_structure(const Fabric& fabric) {
  const SwitchGraph graph(fabric);
  std::optional<Grid> grid = find_grid(fabric, graph);
  if (!grid || (graph.rows() != 0 && graph.switch_at(graph.rows() - 1) != graph.rows() - 1)) return std::nullopt;
  Structure structure;
  structure.extent = grid->size;
  structure.coordinates = std::move(grid->place);
  bool rings = false;
  bool lines = false;
  for (std::uint32_t d = 0; d < grid->size.size(); ++d) {
    rings = rings || grid->wraps[d] != 0;
    lines = lines || (grid->wraps[d] == 0 && grid->size[d] > 2);
  }
  if (rings && lines) return std::nullopt;
  const bool told_torus = fabric.structure().shape == Shape::torus;
  structure.shape = rings || told_torus ? Shape::torus : Shape::mesh;
  return structure;
}

}  // namespace holdfast::fabric
