#include "simulate/collective/quotient.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace holdfast::simulate::collective {

Reducer::Reducer(const Tree& tree, const Operands& operands)
    : tree_(tree),
      operands_(operands),
      edge_of_wire_(tree.wires.size(), all_wires),
      height_(tree.nodes.size()),
      position_(tree.nodes.size()),
      class_of_(tree.nodes.size()),
      met_(tree.nodes.size()),
      new_wire_(tree.wires.size(), all_wires) {
  for (std::uint32_t edge = 0; edge < tree.edges.size(); ++edge) {
    const TreeEdge& each = tree.edges[edge];
    if (rank(edge) >= 32) applicable_ = false;
    for (std::uint32_t i = 0; i < each.wire_count(); ++i) {
      if (edge_of_wire_[each.wire_of(i)] != all_wires) applicable_ = false;
      edge_of_wire_[each.wire_of(i)] = edge;
    }
  }
  if (operands.combine() != Combine::sum || operands.operand() != Operand::integer) applicable_ = false;
  for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {  // children stand before their parents
    for (const TreeEdge& edge : tree.up(node)) {
      height_[edge.parent] = std::max(height_[edge.parent], height_[node] + 1);
    }
  }
  if (applicable_) partition_undisturbed();
}

/// Colour refinement from scratch: nodes of a class agree in their own kind and, round by round, in how many neighbours
/// of each class they have over edges of each kind.
void Reducer::partition_undisturbed() {
  using Signature = std::vector<std::uint64_t>;
  const auto nodes = static_cast<std::uint32_t>(tree_.nodes.size());
  std::vector<Class> colour(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) colour[node] = height_[node] * 2 + (tree_.is_host(node) ? 1 : 0);
  std::size_t classes = 0;
  for (;;) {
    std::map<Signature, Class> known;
    std::vector<Class> next(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      Signature signature;
      const auto note = [&](const TreeEdge& edge, std::uint32_t neighbour, std::uint64_t side) {
        signature.push_back(std::uint64_t{colour[neighbour]} << 24 | std::uint64_t{edge.channels} << 16 |
                            std::uint64_t{edge.copies} << 8 | side);
      };
      for (const std::uint32_t edge : tree_.down_edges(node)) note(tree_.edges[edge], tree_.edges[edge].child, 0);
      for (std::uint32_t i = 0; i < tree_.nodes[node].up_count; ++i) {
        const TreeEdge& edge = tree_.up(node)[i];
        note(edge, edge.parent, 1 + i);  // which of its parents it is decides between packets of one moment
      }
      std::sort(signature.begin(), signature.end());
      signature.push_back(colour[node]);
      next[node] = known.try_emplace(std::move(signature), static_cast<Class>(known.size())).first->second;
    }
    colour = std::move(next);
    if (known.size() == classes) break;
    classes = known.size();
  }
  size_.assign(classes, 0);
  first_.assign(classes, 0);
  for (const Class each : colour) ++size_[each];
  for (std::size_t i = 1; i < classes; ++i) first_[i] = first_[i - 1] + size_[i - 1];
  order_.resize(nodes);
  std::vector<std::uint32_t> filled(classes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const Class mine = class_of_[node] = colour[node];
    position_[node] = first_[mine] + filled[mine]++;
    order_[position_[node]] = node;
  }
  first_undisturbed_ = first_;
  size_undisturbed_ = size_;
}

/// Undoes all splits. A class was only ever split within its own range.
void Reducer::restore() {
  const std::size_t undisturbed = first_undisturbed_.size();
  for (std::size_t each = undisturbed; each < first_.size(); ++each) {
    const std::uint32_t at = first_[each];
    const auto home = std::upper_bound(first_undisturbed_.begin(), first_undisturbed_.end(), at) - 1;
    const Class mine = static_cast<Class>(home - first_undisturbed_.begin());
    for (std::uint32_t i = at; i < at + size_[each]; ++i) class_of_[order_[i]] = mine;
  }
  first_ = first_undisturbed_;
  size_ = size_undisturbed_;
}

void Reducer::swap_to(std::uint32_t node, std::uint32_t position) {
  const std::uint32_t other = order_[position];
  std::swap(order_[position], order_[position_[node]]);
  position_[other] = position_[node];
  position_[node] = position;
}

/// Makes the nodes at order_[first ... last), which are the last of the class, a class of their own.
Reducer::Class Reducer::split_off(Class from, std::uint32_t first, std::uint32_t last) {
  const auto made = static_cast<Class>(first_.size());
  first_.push_back(first);
  size_.push_back(last - first);
  size_[from] -= last - first;
  for (std::uint32_t i = first; i < last; ++i) class_of_[order_[i]] = made;
  splitters_.push_back(made);
  return made;
}

void Reducer::isolate(std::uint32_t node) {
  const Class mine = class_of_[node];
  if (size_[mine] == 1) return;
  const std::uint32_t last = first_[mine] + size_[mine] - 1;
  swap_to(node, last);
  split_off(mine, last, last + 1);
}

void Reducer::settle() {
  while (!splitters_.empty()) {
    const Class splitter = splitters_.back();
    splitters_.pop_back();
    split_by_neighbours(splitter, true);
    split_by_neighbours(splitter, false);
  }
}

/// Which of its child's parents an edge leads to.
std::uint32_t Reducer::rank(std::uint32_t edge) const {
  return edge - tree_.nodes[tree_.edges[edge].child].first_up;
}

/// Splits every class whose nodes differ in how many children, or in which parents, they have in the splitter.
void Reducer::split_by_neighbours(Class splitter, bool parents) {
  touched_.clear();
  const auto meet = [&](std::uint32_t node, std::uint32_t weight) {
    if (met_[node] == 0) touched_.push_back(node);
    met_[node] += weight;
  };
  for (std::uint32_t i = first_[splitter]; i < first_[splitter] + size_[splitter]; ++i) {
    const std::uint32_t node = order_[i];
    if (parents) {
      for (const TreeEdge& edge : tree_.up(node)) meet(edge.parent, 1);
    } else {
      for (const std::uint32_t edge : tree_.down_edges(node)) meet(tree_.edges[edge].child, 1U << rank(edge));
    }
  }
  // the touched nodes by class and count; each such group goes to the end of what is left of its class
  std::sort(touched_.begin(), touched_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(class_of_[a], met_[a], a) < std::tie(class_of_[b], met_[b], b);
  });
  for (std::size_t at = 0; at < touched_.size();) {
    const Class mine = class_of_[touched_[at]];
    std::size_t end_of_class = at;
    while (end_of_class < touched_.size() && class_of_[touched_[end_of_class]] == mine) ++end_of_class;
    const bool all = end_of_class - at == size_[mine];
    groups_.clear();
    while (at < end_of_class) {
      std::size_t end = at;
      while (end < end_of_class && met_[touched_[end]] == met_[touched_[at]]) ++end;
      groups_.emplace_back(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end));
      at = end;
    }
    if (all) groups_.pop_back();  // one group keeps the class
    for (const auto& [from, to] : groups_) {
      const std::uint32_t last = first_[mine] + size_[mine];
      std::uint32_t place = last;
      for (std::uint32_t i = from; i < to; ++i) swap_to(touched_[i], --place);
      split_off(mine, place, last);
    }
  }
  for (const std::uint32_t node : touched_) met_[node] = 0;
}

bool Reducer::reduce(const Disturbance& disturbance, std::uint64_t bytes) {
  if (!applicable_) return false;
  for (const std::uint32_t wire : dirty_wires_) new_wire_[wire] = all_wires;
  dirty_wires_.clear();
  const auto note = [&](std::uint32_t wire) {
    if (wire == all_wires || new_wire_[wire] != all_wires) return;
    new_wire_[wire] = 0;  // some number, until build() knows the right one
    dirty_wires_.push_back(wire);
  };
  for (const NamedError& error : disturbance.named) note(error.wire);
  for (const Strike& strike : disturbance.strikes) note(strike.wire);
  for (const Cut& cut : disturbance.cuts) note(cut.wire);
  if (dirty_wires_.size() * 4 > tree_.wires.size() && tree_.wires.size() > 64) return false;
  restore();
  for (const std::uint32_t wire : dirty_wires_) {
    const TreeEdge& edge = tree_.edges[edge_of_wire_[wire]];
    isolate(edge.child);
    isolate(edge.parent);
  }
  settle();
  build(disturbance, bytes);
  return true;
}

/// One edge for every class of parents that a class has.
void Reducer::add_edges_of(Class child, std::uint32_t index) {
  const std::uint32_t first = static_cast<std::uint32_t>(reduced_.edges.size());
  for (const TreeEdge& edge : tree_.up(order_[first_[child]])) {
    const std::uint32_t parent = index_of_class_[class_of_[edge.parent]];
    const bool known = std::any_of(reduced_.edges.begin() + first, reduced_.edges.end(),
                                   [&](const TreeEdge& each) { return each.parent == parent; });
    if (known) continue;
    TreeEdge added = edge;
    added.child = index;
    added.parent = parent;
    added.wire = static_cast<std::uint32_t>(reduced_.wires.size());
    added.more_wires = added.wire + 1;
    for (std::uint32_t i = 0; i < edge.wire_count(); ++i) {
      const std::uint32_t wire = edge.wire_of(i);
      if (new_wire_[wire] != all_wires) new_wire_[wire] = added.wire_of(i);
      reduced_.wires.push_back(tree_.wires[wire]);
    }
    reduced_.edges.push_back(added);
  }
}

void Reducer::build(const Disturbance& disturbance, std::uint64_t bytes) {
  by_height_.clear();
  for (Class each = 0; each < first_.size(); ++each) by_height_.emplace_back(height_[order_[first_[each]]], each);
  std::sort(by_height_.begin(), by_height_.end());
  index_of_class_.resize(first_.size());
  reduced_.nodes.clear();
  reduced_.edges.clear();
  reduced_.wires.clear();
  reduced_.hosts = 0;
  for (std::uint32_t index = 0; index < by_height_.size(); ++index) {
    const std::uint32_t node = order_[first_[by_height_[index].second]];
    index_of_class_[by_height_[index].second] = index;
    reduced_.nodes.push_back({.id = tree_.nodes[node].id});
    if (tree_.is_host(node)) ++reduced_.hosts;
  }
  for (std::uint32_t index = 0; index < by_height_.size(); ++index) add_edges_of(by_height_[index].second, index);
  finish_tree(reduced_);

  collective_.tree = &reduced_;
  collective_.combine = Combine::sum;
  collective_.operation = operands_.words() == 0 ? Operation::barrier : Operation::allreduce;
  collective_.bytes = bytes;
  collective_.total = operands_.at(tree_.roots.front());
  collective_.contributions.assign(reduced_.nodes.size(), {});
  const std::uint32_t words = operands_.words();
  known_.assign((reduced_.nodes.size() - reduced_.hosts) * words, 0);
  for (std::uint32_t index = 0; index < by_height_.size(); ++index) {
    Contribution known = operands_.at(order_[first_[by_height_[index].second]]);
    if (index >= reduced_.hosts) {  // what its hosts come to, less what its representatives bring
      std::uint64_t* row = known_.data() + std::size_t{index - reduced_.hosts} * words;
      std::copy_n(known.words, words, row);
      for (const std::uint32_t edge : reduced_.down_edges(index)) {
        const Contribution brought = operands_.at(order_[first_[by_height_[reduced_.edges[edge].child].second]]);
        for (std::uint32_t i = 0; i < words; ++i) row[i] -= brought.words[i];
        known.shift_per_segment -= brought.shift_per_segment;
      }
      known.words = row;
    }
    collective_.contributions[index] = known;
  }

  reduced_disturbance_ = disturbance;
  for (NamedError& error : reduced_disturbance_.named) {
    if (error.wire != all_wires) error.wire = new_wire_[error.wire];
  }
  for (Strike& strike : reduced_disturbance_.strikes) {
    if (strike.wire != all_wires) strike.wire = new_wire_[strike.wire];
  }
  for (Cut& cut : reduced_disturbance_.cuts) cut.wire = new_wire_[cut.wire];
}

}  // namespace holdfast::simulate::collective
