#include "fabric/routing/engines/torus_placement.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::fabric {
namespace {

/// Seen from the seed. In a dimension that is a ring from 0 to its size - 1; in one that is a line, of either sign.
using Place = std::array<std::int32_t, 3>;
using Rows = std::vector<std::uint32_t>;

class Placer {
 public:
  Placer(const Fabric& fabric, const SwitchGraph& graph, const std::vector<Rows>& beside, const TorusConfig& config)
      : fabric_(fabric), graph_(graph), beside_(beside), config_(config), place_(graph.rows()) {}

  Result<Grid> place_from(const TorusConfig::Seed& seed) {
    if (Status status = sow(seed); !status.ok()) return status;
    while (grow()) {
    }
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (!place_[row]) return refusal(row, "finds no place");
    }
    return grid_of(seed);
  }

 private:
  Status refusal(std::uint32_t row, const std::string& what) const {
    return {Code::bad_input, "placing switches by torus-2QoS.conf",
            "from its seed, switch " + fabric_.node(graph_.switch_at(row)).name + " " + what,
            "compare sizes and links with the cables; a dimension of 4 needs links both ways (xp_link and xm_link)"};
  }

  std::int32_t size(std::size_t d) const { return static_cast<std::int32_t>(config_.size[d]); }

  Place moved(Place place, std::size_t d, std::int32_t steps) const {
    place[d] += steps;
    if (config_.looped[d]) place[d] = ((place[d] % size(d)) + size(d)) % size(d);
    return place;
  }

  std::optional<std::uint32_t> row_of(NodeId node) const {
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (graph_.switch_at(row) == node) return row;
    }
    return std::nullopt;
  }

  Status sow(const TorusConfig::Seed& seed) {
    put(*row_of(seed.at), {0, 0, 0});
    for (std::size_t d = 0; d < 3; ++d) {
      for (const std::int32_t step : {1, -1}) {
        const NodeId node = (step > 0 ? seed.next : seed.previous)[d];
        if (node == none) continue;
        const std::uint32_t row = *row_of(node);
        const Place place = moved({0, 0, 0}, d, step);
        const auto there = taken_.find(place);
        if (there != taken_.end() && there->second == row) continue;  // a ring of two
        if (there != taken_.end() || place_[row]) return refusal(row, "has two places, or shares one");
        put(row, place);
        if (greatest_[d] - least_[d] >= size(d)) return refusal(row, "lies beyond the edge");
      }
    }
    return {};
  }

  void put(std::uint32_t row, const Place& place) {
    taken_.emplace(place, row);
    place_[row] = place;
    open_.push_back(place);
    for (std::size_t d = 0; d < 3; ++d) {
      least_[d] = std::min(least_[d], place[d]);
      greatest_[d] = std::max(greatest_[d], place[d]);
    }
  }

  bool is_free(const Place& place, std::size_t d) const {
    const bool beyond = std::max(greatest_[d], place[d]) - std::min(least_[d], place[d]) >= size(d);
    return size(d) > 1 && !beyond && taken_.count(place) == 0;
  }

  /// Gives places to whom there is no doubt about; false when nobody got one.
  bool grow() {
    const std::size_t before = taken_.size();
    std::vector<Place> doubtful;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Place place = open_[i];
      if (!grow_beside(place)) doubtful.push_back(place);
    }
    open_ = std::move(doubtful);
    return taken_.size() != before;
  }

  /// Whether all places beside are taken, or beyond the edge.
  bool grow_beside(const Place& place) {
    bool whole = true;
    for (std::size_t d = 0; d < 3; ++d) {
      for (const std::int32_t step : {1, -1}) {
        const Place target = moved(place, d, step);
        if (!is_free(target, d)) continue;
        const Rows candidates = fitting(target);
        if (candidates.size() == 1)
          put(candidates.front(), target);
        else
          whole = false;
      }
    }
    return whole;
  }

  /// Who could be at a place: the unplaced that have cables to all placed neighbours of it, and are opposite to whoever
  /// is two steps away.
  Rows fitting(const Place& target) const {
    std::optional<Rows> candidates;
    for (std::size_t d = 0; d < 3; ++d) {
      for (const std::int32_t step : {1, -1}) {
        const auto at = taken_.find(moved(target, d, step));
        if (size(d) == 1 || at == taken_.end()) continue;
        candidates = candidates ? common(*candidates, beside_[at->second]) : beside_[at->second];
      }
    }
    std::erase_if(*candidates, [&](std::uint32_t row) { return place_[row] || !is_straight(row, target); });
    return *candidates;
  }

  /// Whether nothing but the switch between them joins the row, at that place, to each placed one two steps along a
  /// dimension: round a corner there are two ways. In a ring of three or four opposite tells nothing.
  bool is_straight(std::uint32_t row, const Place& place) const {
    for (std::size_t d = 0; d < 3; ++d) {
      if (config_.looped[d] && size(d) <= 4) continue;
      for (const std::int32_t steps : {2, -2}) {
        const auto at = taken_.find(moved(place, d, steps));
        if (at != taken_.end() && common(beside_[row], beside_[at->second]).size() > 1) return false;
      }
    }
    return true;
  }

  static Rows common(const Rows& a, const Rows& b) {
    Rows both;
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    return both;
  }

  Result<Grid> grid_of(const TorusConfig::Seed& seed) const {
    Grid grid;
    std::array<std::int32_t, 3> first{};
    for (std::size_t d = 0; d < 3; ++d) {
      grid.size.push_back(config_.size[d]);
      grid.wraps.push_back(config_.looped[d] && config_.size[d] > 2 ? 1 : 0);
      first[d] = config_.looped[d] ? seed.dateline[d] : least_[d];
    }
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      for (std::size_t d = 0; d < 3; ++d)
        grid.place.push_back(static_cast<std::uint32_t>(moved(*place_[row], d, -first[d])[d]));
    }
    if (!lies_on_grid(graph_, grid)) return refusal(0, "and others have cables that leave the grid");
    return grid;
  }

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  const std::vector<Rows>& beside_;
  const TorusConfig& config_;
  std::vector<std::optional<Place>> place_;  // by row
  std::map<Place, std::uint32_t> taken_;
  std::vector<Place> open_;  // taken, with places beside that nobody has yet
  Place least_ = {0, 0, 0};
  Place greatest_ = {0, 0, 0};
};

}  // namespace

Result<Grid> place_on_torus(const Fabric& fabric, const SwitchGraph& graph, const TorusConfig& config) {
  std::vector<std::vector<Rows>> attempts = {rows_beside(fabric, graph)};
  for (std::vector<Rows>& whole : with_missing_cables(attempts.front())) attempts.push_back(std::move(whole));
  Result<Grid> placed = Status(Code::bad_input, "placing switches by torus-2QoS.conf", "it has no seed",
                               "give a link of one switch in each dimension, as in xp_link GUID GUID");
  std::optional<Status> first_refusal;
  for (const std::vector<Rows>& beside : attempts) {
    for (const TorusConfig::Seed& seed : config.seeds) {
      if (seed.at == none) continue;
      placed = Placer(fabric, graph, beside, config).place_from(seed);
      if (placed.ok()) return placed;
      if (!first_refusal) first_refusal = placed.status();
    }
  }
  return first_refusal ? Result<Grid>(*first_refusal) : placed;
}

}  // namespace holdfast::fabric
