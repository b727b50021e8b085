#include "fabric/routing/engines/almost_minimal.h"

#include <algorithm>

namespace holdfast::fabric {

/// Which switches are asked first: a step of the golden ratio a layer, so that all come to be first alike often.
std::uint32_t AlmostMinimalRule::turn_of(std::uint32_t row) const {
  std::uint32_t turn = row * 0x85EBCA6BU + destination_ * 0xC2B2AE3DU;
  turn ^= turn >> 15;
  return turn * 0x2C1B3C6DU + layer_ * 0x9E3779B1U;
}

void AlmostMinimalRule::find_detours(std::vector<std::uint32_t> rows) {
  std::sort(rows.begin(), rows.end(), [this](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t turn_a = turn_of(a);
    const std::uint32_t turn_b = turn_of(b);
    return turn_a != turn_b ? turn_a < turn_b : a < b;
  });
  for (const std::uint32_t row : rows) {
    if (needed_[row] != 0) continue;
    std::uint32_t by = none;  // one whose turn would come late
    for (const SwitchGraph::Arc& arc : graph_->arcs_of(row)) {
      if (distance_[arc.to] != distance_[row] || !is_straight(arc.to)) continue;
      if (by == none || turn_of(arc.to) > turn_of(by)) by = arc.to;
    }
    if (by == none) continue;
    needed_[by] = 1;
    detours_[row] = 1;
  }
}

/// All rows of one distance; those nearer are settled.
void AlmostMinimalRule::settle_level(const std::vector<std::uint32_t>& rows) {
  for (const std::uint32_t row : rows) {
    for (const SwitchGraph::Arc& arc : graph_->arcs_of(row)) {
      if (distance_[arc.to] + 1 == distance_[row]) hops_[row] = std::min(hops_[row], hops_[arc.to] + 1);
    }
  }
  if (layer_ != 0 && distance_[rows.front()] != 0) find_detours(rows);
  for (const std::uint32_t row : rows) {
    if (detours_[row] != 0) hops_[row] = distance_[row] + 1;
  }
}

void AlmostMinimalRule::choices_to(std::uint32_t destination, std::uint32_t layer, Choices& choices) {
  destination_ = destination;
  layer_ = layer;
  graph_->distances_to(destination, distance_);
  hops_.assign(graph_->rows(), none);
  detours_.assign(graph_->rows(), 0);
  needed_.assign(graph_->rows(), 0);
  hops_[destination] = 0;
  std::vector<std::uint32_t> near_first;
  for (std::uint32_t row = 0; row < graph_->rows(); ++row) {
    if (distance_[row] != none) near_first.push_back(row);
  }
  std::stable_sort(near_first.begin(), near_first.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return distance_[a] < distance_[b]; });
  std::vector<std::uint32_t> level;
  for (std::size_t i = 0; i < near_first.size(); ++i) {
    level.push_back(near_first[i]);
    if (i + 1 < near_first.size() && distance_[near_first[i + 1]] == distance_[near_first[i]]) continue;
    settle_level(level);
    level.clear();
  }
  std::stable_sort(near_first.begin(), near_first.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return hops_[a] < hops_[b]; });
  choices.order = near_first;
  choices.first.assign(1, 0);
  choices.arcs.clear();
  for (const std::uint32_t row : choices.order) {
    for (std::uint32_t id = graph_->first_arc(row); id < graph_->first_arc(row + 1); ++id) {
      const std::uint32_t to = graph_->arc(id).to;
      const bool leads = detours_[row] != 0 ? distance_[to] == distance_[row] && is_straight(to)
                                            : distance_[to] + 1 == distance_[row] && hops_[to] + 1 == hops_[row];
      if (row != destination && leads) choices.arcs.push_back(id);
    }
    choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
  }
}

}  // namespace holdfast::fabric
