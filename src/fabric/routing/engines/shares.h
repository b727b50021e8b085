#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// Picks in closed form on complete trees (XGFT, S. Öhring et al., IPPS 1995) whose ways do not divide evenly. D-mod-K
/// gives each destination one way, so that of 40 adapters on 24 ways up some ways carry two and others one. Here
/// adapters share ways by length: those below a switch lie on a line side by side, each as long as any other, and so do
/// the ways above it, over the same length. An adapter takes the ways that it lies on, so at most two where there are
/// fewer ways than adapters; of these each source takes the one at a place that moves along with its own number and
/// the destination's, so that both what leaves a source and what comes to a destination is spread by length. The part
/// of a way that an adapter has is its length among the ways of the next level. Where ways and what lies below are as
/// many, that is D-mod-K.
///
/// Const access from any number of threads.
class Shares {
 public:
  /// `level`: hops above the leaves, by row; every arc joins neighbouring levels. None where the tree is not complete:
  /// switches of a level that differ in ways, parallel cables, several LIDs an adapter
  /// (which are to lie on different ways), or leaves that do not lie together below their switch.
  static std::optional<Shares> of(const SwitchGraph& graph, const std::vector<std::uint32_t>& level);

  /// Calls use(first, last, choice, 0) for the destinations from `number` on, `count` of them, all those of a leaf:
  /// those from first to last - 1, counted from 0, take arcs[choice]. `arcs` are the one way down or all ways up.
  template <class Use>
  void deal(std::uint32_t row, std::span<const std::uint32_t> arcs, std::uint64_t number, std::size_t count,
            const Use& use) const {
    if (arcs.size() == 1) return use(0, count, 0, 0);
    if (level_[row] == 0 && arcs.size() == levels_[0].ways) {
      for (const Run& run : of_leaves_[place_of(row, number)]) use(run.first, run.last, run.way, 0);
      return;
    }
    std::size_t first = 0;
    std::uint64_t way = way_of(row, number, arcs.size());
    const auto [begin, end] = passing(row);
    for (std::size_t at = 1; at < count; ++at) {
      if (at < begin || at > end) continue;  // as the one before it
      const std::uint64_t next = way_of(row, number + at, arcs.size());
      if (next == way) continue;
      use(first, at, way, 0);
      first = at;
      way = next;
    }
    use(first, count, way, 0);
  }

 private:
  struct Level {
    std::uint64_t below = 0;     ///< leaves: adapters; above: switches of the next lower level
    std::uint64_t ways = 0;      ///< up; 0 at the top
    std::uint64_t places = 1;    ///< among which sources choose
    std::uint64_t adapters = 0;  ///< below, at the bottom
  };
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  /// Adapters of a leaf from first to last - 1 and the way that they take.
  struct Run {
    std::size_t first;
    std::size_t last;
    std::size_t way;
  };

  explicit Shares(const SwitchGraph& graph) : graph_(&graph) {}
  bool measure(const std::vector<std::uint32_t>& level);
  bool place(const std::vector<std::uint32_t>& level);
  void find_runs();
  /// Which of its level's places a switch has towards a destination.
  std::uint64_t place_of(std::uint32_t row, std::uint64_t number) const {
    const Level& mine = levels_[level_[row]];
    return (index_[row] + number / mine.adapters) % mine.places;
  }

  /// Which of `ways` this switch takes to a destination elsewhere.
  std::uint64_t way_of(std::uint32_t row, std::uint64_t number, std::size_t ways) const;
  /// The adapters of a leaf elsewhere that may come by this switch, and the first behind them: others take the ways of
  /// these two.
  Range passing(std::uint32_t row) const;

  const SwitchGraph* graph_;
  std::vector<Level> levels_;                // from the leaves up
  std::vector<std::vector<Run>> of_leaves_;  // by place: what a leaf sends to another
  std::vector<std::uint32_t> level_;         // by row
  std::vector<std::uint64_t> index_;         // by row: number among those with other adapters below, of its level
  std::vector<std::vector<std::uint32_t>> column_;  // by row: which way up led here, from the leaves
};

}  // namespace holdfast::fabric
