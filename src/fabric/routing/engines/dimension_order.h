#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/routing/graph/choices.h"
#include "fabric/routing/graph/grid.h"

namespace holdfast::fabric {

/// Of all shortest paths, those that finish one dimension before they begin the next. Off a grid, those that go within
/// a group of switches before they leave it, where groups are given; otherwise the arc with the lowest port number, as
/// OpenSM does: the same, where cabling is regular. W. Dally, C. Seitz, "Deadlock-Free Message
/// Routing in Multiprocessor Interconnection Networks", IEEE ToC C-36(5), 1987.
class DimensionOrderRule {
 public:
  /// `group`: by row; empty: none.
  DimensionOrderRule(const SwitchGraph& graph, std::optional<Grid> grid, std::vector<std::uint32_t> group = {})
      : graph_(&graph), grid_(std::move(grid)), group_(std::move(group)), minimal_(graph) {}

  void choices_to(std::uint32_t destination, Choices& choices) {
    minimal_.choices_to(destination, all_);
    choices.order = all_.order;
    choices.first.assign(2, 0);
    choices.arcs.clear();
    for (std::size_t i = 1; i < all_.order.size(); ++i) {
      std::uint32_t first = none;
      for (std::uint32_t at = all_.first[i]; at < all_.first[i + 1]; ++at) first = std::min(first, rank(all_.arcs[at]));
      for (std::uint32_t at = all_.first[i]; at < all_.first[i + 1]; ++at) {
        if (rank(all_.arcs[at]) == first) choices.arcs.push_back(all_.arcs[at]);
      }
      choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
    }
  }

 private:
  /// The dimension of an arc: on a grid, of groups (0: within one); without either, the arc itself.
  std::uint32_t rank(std::uint32_t id) const {
    if (!grid_ && !group_.empty()) return group_[graph_->arc(id).from] == group_[graph_->arc(id).to] ? 0 : 1;
    if (!grid_) return id;
    std::uint32_t d = 0;
    while (grid_->at(graph_->arc(id).from, d) == grid_->at(graph_->arc(id).to, d)) ++d;
    return d;
  }

  const SwitchGraph* graph_;
  std::optional<Grid> grid_;
  std::vector<std::uint32_t> group_;
  MinimalRule minimal_;
  Choices all_;
};

}  // namespace holdfast::fabric
