#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {

/// For a fat tree, the one way down to each adapter LID, from a root to the leaf. Destinations are dealt in the order
/// of SwitchGraph::terminals(), each from its leaf upwards over the channel that the fewest have so far; on a complete
/// tree that is D-mod-K (E. Zahavi et al., 2010).
///
/// Who shares a switch above with a destination's leaf goes by what they share, be that on its way down or not. In a
/// complete tree they share all switches above the leaf. Where they share a few, as below directors that edge switches
/// are cabled to unevenly, those few carry what their own ways down bring and that besides, which counts from the start
/// as so many destinations, rounded down: on the rail of TSUBAME2.0 one cable into a leaf with 19 adapters carries
/// 4,560 routes whatever is dealt over it, where a destination is 1,536.
///
/// Const access from any number of threads.
class WaysDown {
 public:
  /// `level`: hops above the leaves, by row; every arc joins neighbouring levels. Time: channels, and for leaves under
  /// each set of switches once the cables down from those.
  WaysDown(const SwitchGraph& graph, const std::vector<std::uint32_t>& level);

  /// Channels from the leaf to the root; `terminal` as in SwitchGraph::terminals().
  std::span<const std::uint32_t> to(std::size_t terminal) const {
    return {channels_.data() + first_[terminal], first_[terminal + 1] - first_[terminal]};
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> channels_;
};

}  // namespace holdfast::fabric
