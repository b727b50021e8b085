#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// What differs between two states of one fabric, such as two discovery files. Nodes are the same when their GUIDs are,
/// links when both ends are the same ports; order and ids do not matter. Links that are down count as missing.
struct Difference {
  struct Renamed {
    NodeId before, after;
  };
  /// A link that is there in both and came up otherwise.
  struct Rerated {
    LinkId before, after;
  };

  std::vector<NodeId> lost_nodes;  ///< of the first fabric
  std::vector<NodeId> new_nodes;   ///< of the second
  std::vector<LinkId> lost_links;  ///< of the first, those of lost nodes included
  std::vector<LinkId> new_links;   ///< of the second
  std::vector<Rerated> slower_links;
  std::vector<Rerated> faster_links;
  std::vector<Renamed> renamed;
  std::vector<Renamed> new_lids;  ///< nodes of which some port has another LID or LMC

  /// Nothing but names and LIDs differs.
  bool same_network() const {
    return lost_nodes.empty() && new_nodes.empty() && lost_links.empty() && new_links.empty() && slower_links.empty() &&
           faster_links.empty();
  }
  bool none_at_all() const { return same_network() && renamed.empty() && new_lids.empty(); }
};

/// Time: linear. A GUID that several nodes have stands for the first of them.
Difference difference(const Fabric& before, const Fabric& after);

/// The healthy fabric with what the observed one has lost marked as down: the failures that were observed, on the ids
/// of the healthy fabric.
Fabric as_observed(const Fabric& healthy, const Fabric& observed);

}  // namespace holdfast::fabric
