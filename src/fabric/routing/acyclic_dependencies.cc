#include "fabric/routing/acyclic_dependencies.h"

#include <algorithm>

namespace holdfast::fabric {

DependencySpace::DependencySpace(const SwitchGraph& graph) : graph_(&graph) {
  for (const SwitchGraph::Arc& arc : graph.arcs()) {
    base_.push_back(size_ - graph.first_arc(arc.to));
    size_ += static_cast<std::uint32_t>(graph.arcs_of(arc.to).size());
  }
}

AcyclicDependencies::AcyclicDependencies(const DependencySpace& space)
    : space_(&space), state_(space.size(), absent), seen_(space.graph().arcs().size()) {
  for (std::uint32_t arc = 0; arc < space.graph().arcs().size(); ++arc) position_.push_back(arc);
}

void AcyclicDependencies::start_from(const std::vector<std::uint32_t>& arcs) {
  for (std::uint32_t i = 0; i < arcs.size(); ++i) position_[arcs[i]] = i;
}

bool AcyclicDependencies::load(const std::vector<std::uint8_t>& dependencies) {
  const SwitchGraph& graph = space_->graph();
  const auto arcs = static_cast<std::uint32_t>(graph.arcs().size());
  state_ = dependencies;
  std::vector<std::uint32_t> waits_for(arcs, 0);
  const auto for_each_next = [&](std::uint32_t arc, const auto& visit) {
    const std::uint32_t row = graph.arc(arc).to;
    for (std::uint32_t next = graph.first_arc(row); next < graph.first_arc(row + 1); ++next) {
      if (state_[space_->id(arc, next)] == present) visit(next);
    }
  };
  for (std::uint32_t arc = 0; arc < arcs; ++arc) {
    for_each_next(arc, [&](std::uint32_t next) { ++waits_for[next]; });
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t arc = 0; arc < arcs; ++arc) {
    if (waits_for[arc] == 0) order.push_back(arc);
  }
  for (std::size_t head = 0; head < order.size(); ++head) {
    for_each_next(order[head], [&](std::uint32_t next) {
      if (--waits_for[next] == 0) order.push_back(next);
    });
  }
  start_from(order);
  return order.size() == arcs;
}

/// Depth first from `from` over positions below `limit`: is `target` met? Those passed are in after_.
bool AcyclicDependencies::reaches(std::uint32_t from, std::uint32_t target, std::uint32_t limit) {
  const SwitchGraph& graph = space_->graph();
  stack_.assign(1, from);
  seen_[from] = 1;
  while (!stack_.empty()) {
    const std::uint32_t arc = stack_.back();
    stack_.pop_back();
    after_.push_back(arc);
    const std::uint32_t row = graph.arc(arc).to;
    for (std::uint32_t next = graph.first_arc(row); next < graph.first_arc(row + 1); ++next) {
      if (state_[space_->id(arc, next)] != present) continue;
      if (next == target) return true;
      if (seen_[next] != 0 || position_[next] > limit) continue;
      seen_[next] = 1;
      stack_.push_back(next);
    }
  }
  return false;
}

void AcyclicDependencies::gather_before(std::uint32_t to, std::uint32_t limit) {
  const SwitchGraph& graph = space_->graph();
  stack_.assign(1, to);
  seen_[to] = 1;
  while (!stack_.empty()) {
    const std::uint32_t arc = stack_.back();
    stack_.pop_back();
    before_.push_back(arc);
    for (const SwitchGraph::Arc& back : graph.arcs_of(graph.arc(arc).from)) {
      const std::uint32_t previous = back.reverse;
      if (seen_[previous] != 0 || position_[previous] < limit || state_[space_->id(previous, arc)] != present) continue;
      seen_[previous] = 1;
      stack_.push_back(previous);
    }
  }
}

void AcyclicDependencies::reorder() {
  const auto by_position = [this](std::uint32_t a, std::uint32_t b) { return position_[a] < position_[b]; };
  std::sort(after_.begin(), after_.end(), by_position);
  std::sort(before_.begin(), before_.end(), by_position);
  before_.insert(before_.end(), after_.begin(), after_.end());
  places_.clear();
  for (const std::uint32_t arc : before_) places_.push_back(position_[arc]);
  std::sort(places_.begin(), places_.end());
  for (std::size_t i = 0; i < places_.size(); ++i) position_[before_[i]] = places_[i];
}

bool AcyclicDependencies::add(std::uint32_t a, std::uint32_t b) {
  std::uint8_t& state = state_[space_->id(a, b)];
  if (state != absent) return state == present;
  if (a == b) {
    state = refused;
    return false;
  }
  if (position_[a] > position_[b]) {
    after_.clear();
    before_.clear();
    const bool cycle = reaches(b, a, position_[a]);
    if (!cycle) gather_before(a, position_[b]);
    for (const std::uint32_t arc : stack_) seen_[arc] = 0;  // left over where the search ended early
    for (const std::uint32_t arc : after_) seen_[arc] = 0;
    for (const std::uint32_t arc : before_) seen_[arc] = 0;
    if (cycle) {
      state = refused;
      return false;
    }
    reorder();
  }
  state = present;
  return true;
}

bool AcyclicDependencies::add_path(const std::vector<std::uint32_t>& arcs) {
  std::vector<std::size_t> added;
  for (std::size_t i = 1; i < arcs.size(); ++i) {
    if (has(arcs[i - 1], arcs[i])) continue;
    if (!add(arcs[i - 1], arcs[i])) {
      for (const std::size_t at : added) remove(arcs[at - 1], arcs[at]);
      if (!added.empty()) remove(arcs[i - 1], arcs[i]);  // what was just removed may have been at fault
      return false;
    }
    added.push_back(i);
  }
  return true;
}

void AcyclicDependencies::forget_refusals() {
  for (std::uint8_t& state : state_) {
    if (state == refused) state = absent;
  }
}

}  // namespace holdfast::fabric
