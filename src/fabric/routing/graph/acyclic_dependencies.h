#pragma once

#include <cstdint>
#include <vector>

#include "fabric/routing/graph/choices.h"
#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// All channel dependencies that a switch graph can have, numbered: arc a (into a switch) then arc b (out of it).
class DependencySpace {
 public:
  explicit DependencySpace(const SwitchGraph& graph);

  std::uint32_t size() const { return size_; }
  std::uint32_t id(std::uint32_t a, std::uint32_t b) const { return base_[a] + b; }
  const SwitchGraph& graph() const { return *graph_; }

 private:
  const SwitchGraph* graph_;
  std::vector<std::uint32_t> base_;  // by arc, less the first arc of the switch it leads to (modulo 2^32)
  std::uint32_t size_ = 0;
};

/// A set of channel dependencies without a cycle, for one virtual lane. Keeps a topological order and mends it only
/// between the ends of what is added: D. Pearce, P. Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic
/// Graphs", ACM JEA 11, 2006. What was once refused is remembered until something is removed.
///
/// One byte a possible dependency, and two bits of those that are there, by which they are found without a search.
class AcyclicDependencies {
 public:
  explicit AcyclicDependencies(const DependencySpace& space);

  /// Before anything is added: an order in which dependencies from up to down, by this order of the switches, are
  /// already sorted, so that they take no time. It changes nothing else.
  void expect_up_down(const SwitchOrder& order);

  /// Starts from a whole set at once, one byte a dependency (1: present); false when it has a cycle. Before anything is
  /// added.
  bool load(const std::vector<std::uint8_t>& dependencies);

  bool has(std::uint32_t a, std::uint32_t b) const { return state_[space_->id(a, b)] == present; }
  /// Adds the dependency of arc b on arc a, and is true, unless that would close a cycle. True when it is there
  /// already.
  bool add(std::uint32_t a, std::uint32_t b);
  /// Adds all consecutive pairs of a path or none of them.
  bool add_path(const std::vector<std::uint32_t>& arcs);
  /// Call forget_refusals() after the last of a series of removals.
  void remove(std::uint32_t a, std::uint32_t b);
  void forget_refusals();

 private:
  enum State : std::uint8_t { absent, present, refused };

  void link(std::uint32_t a, std::uint32_t b);
  void start_from(const std::vector<std::uint32_t>& arcs);
  bool reaches(std::uint32_t from, std::uint32_t target, std::uint32_t limit);
  void gather_before(std::uint32_t to, std::uint32_t limit);
  void reorder();

  const DependencySpace* space_;
  std::vector<std::uint8_t> state_;
  std::uint32_t words_ = 1;              // of 64 bits, for the arcs of a switch
  std::vector<std::uint64_t> next_;      // by arc: bit i is the dependency of arc i of the switch that it leads to
  std::vector<std::uint64_t> previous_;  // by arc: bit i, that on the reverse of arc i of the switch that it leaves
  std::vector<std::uint32_t> position_;  // by arc
  std::vector<std::uint64_t> after_;     // arcs found forwards, with their positions in the upper half
  std::vector<std::uint64_t> before_;    // arcs found backwards, likewise
  std::vector<std::uint8_t> seen_;
  std::vector<std::uint32_t> stack_;
};

}  // namespace holdfast::fabric
