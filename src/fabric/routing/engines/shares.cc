#include "fabric/routing/engines/shares.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace holdfast::fabric {

std::optional<Shares> Shares::of(const SwitchGraph& graph, const std::vector<std::uint32_t>& level) {
  Shares shares(graph);
  if (graph.arcs().empty() || graph.terminals().empty() || std::ranges::count(level, none) != 0) return std::nullopt;
  if (!shares.measure(level) || !shares.place(level)) return std::nullopt;
  shares.find_runs();
  return shares;
}

/// The numbers of each level; false where switches of one level differ.
bool Shares::measure(const std::vector<std::uint32_t>& level) {
  levels_.resize(*std::ranges::max_element(level) + 1U);
  if (levels_.size() == 1) return false;
  std::vector<std::uint8_t> seen(levels_.size(), 0);
  for (std::uint32_t row = 0; row < graph_->rows(); ++row) {
    std::uint64_t below = graph_->terminals_at(row).size();
    std::uint64_t ways = 0;
    if ((level[row] == 0) != (below != 0) || below != graph_->sources_at(row)) return false;
    for (const SwitchGraph::Arc& arc : graph_->arcs_of(row)) {
      if (arc.channels != 1) return false;
      ++(level[arc.to] > level[row] ? ways : below);
    }
    Level& mine = levels_[level[row]];
    if (seen[level[row]] == 0) {
      mine.below = below;
      mine.ways = ways;
      seen[level[row]] = 1;
    }
    if (mine.below != below || mine.ways != ways) return false;
  }
  std::uint64_t adapters = 1;
  for (std::size_t at = 0; at < levels_.size(); ++at) {
    Level& mine = levels_[at];
    if ((mine.ways == 0) != (at + 1 == levels_.size())) return false;
    adapters *= mine.below;
    if (adapters > graph_->terminals().size()) return false;
    mine.adapters = adapters;
    const bool last = at + 2 == levels_.size();  // what comes together there is spread no further
    if (mine.ways != 0)
      mine.places = last ? graph_->terminals().size() / adapters : mine.ways / std::gcd(mine.ways, mine.below);
  }
  return true;
}

/// Where each switch lies; false where the adapters below one do not follow one another, or its cables lead to
/// switches that count their ways otherwise.
bool Shares::place(const std::vector<std::uint32_t>& level) {
  level_ = level;
  index_.assign(graph_->rows(), 0);
  column_.resize(graph_->rows());
  std::vector<std::uint32_t> rows(graph_->rows());
  std::iota(rows.begin(), rows.end(), 0U);
  std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return level[row]; });
  for (const std::uint32_t row : rows) {
    const Level& mine = levels_[level[row]];
    if (level[row] == 0) {
      index_[row] =
          static_cast<std::uint64_t>(graph_->terminals_at(row).data() - graph_->terminals().data()) / mine.adapters;
      continue;
    }
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;
    for (const SwitchGraph::Arc& arc : graph_->arcs_of(row)) {
      if (level[arc.to] > level[row]) continue;
      first = std::min(first, index_[arc.to]);
      last = std::max(last, index_[arc.to]);
      std::vector<std::uint32_t> column = column_[arc.to];
      std::uint32_t way = 0;
      for (const SwitchGraph::Arc& up : graph_->arcs_of(arc.to)) {
        if (up.to == row) break;
        if (level[up.to] > level[arc.to]) ++way;
      }
      column.push_back(way);
      if (column_[row].empty()) column_[row] = column;
      if (column_[row] != column) return false;
    }
    if (first % mine.below != 0 || last - first + 1 != mine.below) return false;
    index_[row] = first / mine.below;
  }
  return true;
}

void Shares::find_runs() {
  const Level& leaf = levels_[0];
  of_leaves_.resize(leaf.places);
  for (std::uint64_t place = 0; place < leaf.places; ++place) {
    for (std::uint64_t at = 0; at < leaf.below; ++at) {
      const std::uint64_t way = (at * leaf.places + place) * leaf.ways / (leaf.below * leaf.places);
      std::vector<Run>& runs = of_leaves_[place];
      if (runs.empty() || runs.back().way != way) runs.push_back({at, at, way});
      runs.back().last = at + 1;
    }
  }
}

Shares::Range Shares::passing(std::uint32_t row) const {
  const Level& leaf = levels_[0];
  if (level_[row] == 0) return {0, leaf.below};
  const std::uint64_t way = column_[row][0];
  return {way * leaf.below / leaf.ways, ((way + 1) * leaf.below + leaf.ways - 1) / leaf.ways};
}

std::uint64_t Shares::way_of(std::uint32_t row, std::uint64_t number, std::size_t ways) const {
  const std::uint32_t at = level_[row];
  if (ways != levels_[at].ways) return number % ways;  // not all ways up: whoever allows these goes by other levels
  // The destination's part of this switch, from begin to end of `length`.
  std::uint64_t length = levels_[0].below;
  std::uint64_t begin = number % length;
  std::uint64_t end = begin + 1;
  for (std::uint32_t below = 0; below < at; ++below) {
    // The part of the ways above the switch below; of these, the one that leads here.
    const std::uint64_t from = column_[row][below] * length;
    const auto part = [&](std::uint64_t place) {
      return std::clamp(place * levels_[below].ways, from, from + length) - from;
    };
    begin = part(begin);
    end = part(end);
    // Those of switches beside each other follow one another.
    const std::uint64_t beside = number / levels_[below].adapters % levels_[below + 1].below;
    begin += beside * length;
    end += beside * length;
    length *= levels_[below + 1].below;
  }
  const std::uint64_t places = levels_[at].places;
  const std::uint64_t way = (begin * places + place_of(row, number) * (end - begin)) * ways / (length * places);
  return std::min<std::uint64_t>(way, ways - 1);
}

}  // namespace holdfast::fabric
