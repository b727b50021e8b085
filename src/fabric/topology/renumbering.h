#pragma once

#include <cstdint>
#include <vector>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The same cables under other numbers: the nodes listed in another order, and the ports of switches numbered
/// otherwise.
struct Renumbering {
  std::vector<NodeId> nodes;  ///< by new id: the old one
  std::vector<PortId> ports;  ///< by new id: the old one. Slot 0 of a node keeps its place
};

/// The fabric under these numbers. Names, GUIDs, LIDs and what the ports can do stay with what they belong to; links
/// come in the order of their new ports, and what a generator knew of the structure is dropped.
Fabric renumber(const Fabric& fabric, const Renumbering& numbers);

/// Switches in a random order, as ibnetdiscover lists them, then adapters in a random order, and the external ports of
/// each switch in a random order; those of adapters stay.
Renumbering draw_renumbering(const Fabric& fabric, std::uint64_t seed);

/// Ports that follow their nodes in this order, each node's external ports as `order` lists their old numbers.
class RenumberingMaker {
 public:
  explicit RenumberingMaker(const Fabric& fabric) : fabric_(fabric) {}
  /// The next node; `ports` are the old numbers of its external ports in their new order, all of them once.
  void add(NodeId node, const std::vector<std::uint8_t>& ports);
  /// The next node, with its ports as they are.
  void add(NodeId node);
  Renumbering take() { return std::move(made_); }

 private:
  const Fabric& fabric_;
  Renumbering made_;
};

}  // namespace holdfast::fabric
