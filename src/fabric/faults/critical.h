#pragma once

#include <cstdint>
#include <vector>

#include "fabric/topology/fabric.h"

/// Critical failures: "a critical component failure disconnects all paths between two hosts, whereas a non-critical
/// failure only disconnects a subset of all paths between two hosts" (Domke et al., SC 2014, section I).
namespace holdfast::fabric {

/// What the loss of components would cut off: the hosts that no longer reach the largest group of hosts that still
/// reach each other. Hosts that did not reach it before are not counted.
struct Loss {
  std::vector<NodeId> hosts;  ///< adapters, in the order of ids
  bool critical() const { return !hosts.empty(); }
};

/// Asks again and again about one fabric, whose links go up and down meanwhile. Keeps buffers; one thread.
class Criticality {
 public:
  explicit Criticality(const Fabric& fabric);

  /// Whether the loss of a working link separates hosts that are connected now. Time: as far as the search for a way
  /// round goes, few links in a redundant network.
  bool link_is_critical(LinkId link);
  /// Whether the loss of a switch with all its links separates hosts, its own included. Time: linear.
  bool switch_is_critical(NodeId node);
  /// Which hosts would be lost with these links down.
  Loss loss_without(const std::vector<LinkId>& links);

 private:
  /// Adapters with a working cable to a switch reachable from `from`, without `gone` and the links marked in skip_;
  /// stops early, with none, when `target` is found.
  std::uint32_t hosts_reached(NodeId from, NodeId gone, NodeId target);
  std::vector<std::uint32_t> components(NodeId gone);
  bool usable(PortId port) const;
  void skip(const std::vector<LinkId>& links, bool on);

  const Fabric& fabric_;
  std::vector<std::uint32_t> seen_;  // round in which a node was last visited
  std::uint32_t round_ = 0;
  std::vector<NodeId> queue_;
  std::vector<bool> skip_;  // by link
};

}  // namespace holdfast::fabric
