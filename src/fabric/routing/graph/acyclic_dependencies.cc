#include "fabric/routing/graph/acyclic_dependencies.h"

#include <algorithm>
#include <bit>

namespace holdfast::fabric {
namespace {

/// Calls visit(i) for each bit i that is set, and ends when it answers true.
template <class Visit>
bool any_bit(const std::uint64_t* words, std::uint32_t count, const Visit& visit) {
  for (std::uint32_t word = 0; word < count; ++word) {
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
      if (visit(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)))) return true;
    }
  }
  return false;
}

void set_bit(std::uint64_t* words, std::uint32_t bit, bool on) {
  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
  words[bit / 64] = on ? words[bit / 64] | mask : words[bit / 64] & ~mask;
}

}  // namespace

DependencySpace::DependencySpace(const SwitchGraph& graph) : graph_(&graph) {
  for (const SwitchGraph::Arc& arc : graph.arcs()) {
    base_.push_back(size_ - graph.first_arc(arc.to));
    size_ += static_cast<std::uint32_t>(graph.arcs_of(arc.to).size());
  }
}

AcyclicDependencies::AcyclicDependencies(const DependencySpace& space)
    : space_(&space), state_(space.size(), absent), seen_(space.graph().arcs().size()) {
  const SwitchGraph& graph = space.graph();
  for (std::uint32_t row = 0; row < graph.rows(); ++row)
    words_ = std::max(words_, (graph.first_arc(row + 1) - graph.first_arc(row) + 63) / 64);
  next_.assign(graph.arcs().size() * words_, 0);
  previous_.assign(graph.arcs().size() * words_, 0);
  for (std::uint32_t arc = 0; arc < graph.arcs().size(); ++arc) position_.push_back(arc);
}

/// Sets both bits.
void AcyclicDependencies::link(std::uint32_t a, std::uint32_t b) {
  const SwitchGraph& graph = space_->graph();
  const std::uint32_t first = graph.first_arc(graph.arc(b).from);
  set_bit(&next_[a * words_], b - first, true);
  set_bit(&previous_[b * words_], graph.arc(a).reverse - first, true);
}

void AcyclicDependencies::remove(std::uint32_t a, std::uint32_t b) {
  const SwitchGraph& graph = space_->graph();
  const std::uint32_t first = graph.first_arc(graph.arc(b).from);
  set_bit(&next_[a * words_], b - first, false);
  set_bit(&previous_[b * words_], graph.arc(a).reverse - first, false);
  state_[space_->id(a, b)] = absent;
}

void AcyclicDependencies::start_from(const std::vector<std::uint32_t>& arcs) {
  for (std::uint32_t i = 0; i < arcs.size(); ++i) position_[arcs[i]] = i;
}

void AcyclicDependencies::expect_up_down(const SwitchOrder& order) {
  const SwitchGraph& graph = space_->graph();
  std::vector<std::uint32_t> arcs;
  const auto append = [&](std::uint32_t row, bool up) {
    for (std::uint32_t arc = graph.first_arc(row); arc < graph.first_arc(row + 1); ++arc) {
      if ((order.position[graph.arc(arc).to] < order.position[row]) == up) arcs.push_back(arc);
    }
  };
  for (std::size_t i = order.rows.size(); i > 0; --i) append(order.rows[i - 1], true);
  for (const std::uint32_t row : order.rows) append(row, false);
  start_from(arcs);
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
    for_each_next(arc, [&](std::uint32_t next) {
      link(arc, next);
      ++waits_for[next];
    });
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
    after_.push_back(std::uint64_t{position_[arc]} << 32 | arc);
    const std::uint32_t first = graph.first_arc(graph.arc(arc).to);
    const bool met = any_bit(&next_[arc * words_], words_, [&](std::uint32_t bit) {
      const std::uint32_t next = first + bit;
      if (next == target) return true;
      if (seen_[next] != 0 || position_[next] > limit) return false;
      seen_[next] = 1;
      stack_.push_back(next);
      return false;
    });
    if (met) return true;
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
    before_.push_back(std::uint64_t{position_[arc]} << 32 | arc);
    const std::uint32_t first = graph.first_arc(graph.arc(arc).from);
    any_bit(&previous_[arc * words_], words_, [&](std::uint32_t bit) {
      const std::uint32_t previous = graph.arc(first + bit).reverse;
      if (seen_[previous] != 0 || position_[previous] < limit) return false;
      seen_[previous] = 1;
      stack_.push_back(previous);
      return false;
    });
  }
}

/// Gives those before the places in front and those after the places behind, each in their old order.
void AcyclicDependencies::reorder() {
  std::sort(after_.begin(), after_.end());
  std::sort(before_.begin(), before_.end());
  std::size_t after = 0;
  std::size_t before = 0;
  std::size_t placed = 0;
  while (after < after_.size() || before < before_.size()) {
    const bool from_before = after == after_.size() || (before < before_.size() && before_[before] < after_[after]);
    const auto place = static_cast<std::uint32_t>((from_before ? before_[before++] : after_[after++]) >> 32);
    const std::uint64_t moved = placed < before_.size() ? before_[placed] : after_[placed - before_.size()];
    position_[static_cast<std::uint32_t>(moved)] = place;
    ++placed;
  }
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
    for (const std::uint64_t found : after_) seen_[static_cast<std::uint32_t>(found)] = 0;
    for (const std::uint64_t found : before_) seen_[static_cast<std::uint32_t>(found)] = 0;
    if (cycle) {
      state = refused;
      return false;
    }
    reorder();
  }
  state = present;
  link(a, b);
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
