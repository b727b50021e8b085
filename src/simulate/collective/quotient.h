#pragma once

#include <cstdint>
#include <vector>

#include "simulate/collective/disturbance.h"
#include "simulate/collective/engine.h"
#include "simulate/collective/operands.h"
#include "simulate/collective/tree.h"

/// Most hosts of a large fabric do the same thing at the same time. Nodes that the disturbance does not tell apart are
/// simulated once: the tree is replaced by its quotient under the coarsest partition in which two nodes of a class have
/// as many children of every class and the same parents, class by class, and in which the ends of every disturbed wire
/// stand alone. What the merged nodes would have contributed is added as one known value, so that the real operands of
/// all hosts are still in the sum.
///
/// The partition of the undisturbed tree is computed once; a disturbance splits it, which costs work in proportion to
/// what is split off (J. Hopcroft, "An n log n Algorithm for Minimizing States in a Finite Automaton", 1971).
namespace holdfast::simulate::collective {

class Reducer {
 public:
  /// Both must outlive the reducer. Operands of sums only.
  Reducer(const Tree& tree, const Operands& operands);

  /// Whether trees of this kind can be reduced: no two edges share a wire.
  bool applicable() const { return applicable_; }

  /// Builds the quotient for an allreduce of `bytes` under this disturbance. False when so much is disturbed that the
  /// whole tree is as cheap.
  bool reduce(const Disturbance& disturbance, std::uint64_t bytes);

  /// Of the last reduce() that was true: valid until the next one.
  const Collective& collective() const { return collective_; }
  const Disturbance& disturbance() const { return reduced_disturbance_; }

 private:
  using Class = std::uint32_t;
  void partition_undisturbed();
  void restore();
  void isolate(std::uint32_t node);
  void settle();
  void split_by_neighbours(Class splitter, bool parents);
  Class split_off(Class from, std::uint32_t first, std::uint32_t last);
  void swap_to(std::uint32_t node, std::uint32_t position);
  std::uint32_t rank(std::uint32_t edge) const;
  void build(const Disturbance& disturbance, std::uint64_t bytes);
  void add_edges_of(Class child, std::uint32_t index);

  const Tree& tree_;
  const Operands& operands_;
  bool applicable_ = true;
  std::vector<std::uint32_t> edge_of_wire_;
  std::vector<std::uint32_t> height_;

  // the partition: classes are ranges of order_
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> position_;  // by node
  std::vector<Class> class_of_;          // by node
  std::vector<std::uint32_t> first_;     // by class
  std::vector<std::uint32_t> size_;      // by class
  std::vector<std::uint32_t> first_undisturbed_;
  std::vector<std::uint32_t> size_undisturbed_;
  std::vector<Class> splitters_;
  std::vector<std::uint32_t> met_;      // by node: how many children, or which parents, are in the splitter
  std::vector<std::uint32_t> touched_;  // nodes with any
  std::vector<std::pair<Class, std::uint32_t>> groups_;

  Tree reduced_;
  std::vector<std::pair<std::uint32_t, Class>> by_height_;
  std::vector<std::uint32_t> index_of_class_;
  std::vector<std::uint32_t> dirty_wires_;
  std::vector<std::uint32_t> new_wire_;  // by wire of the tree; all_wires where it is not disturbed
  std::vector<std::uint64_t> known_;     // a row a switch of the quotient
  Collective collective_;
  Disturbance reduced_disturbance_;
};

}  // namespace holdfast::simulate::collective
