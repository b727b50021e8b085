#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/collective/scheme.h"

/// The collective's embedding in the fabric. A node is an adapter, or a switch's sum of what a certain set of adapters
/// contributes; an edge is the link between a node and one that takes its sum in. With one root it is a tree. In the
/// spatial scheme a node hands its sum to several others, and there are several roots, each of which gets the whole sum
/// in a way of its own; the result comes down along all edges.
namespace holdfast::simulate::collective {

struct TreeNode {
  fabric::NodeId id = fabric::none;
  std::uint32_t first_up = 0;  ///< its edges to parents are edges[first_up ... first_up + up_count)
  std::uint32_t up_count = 0;
  std::uint32_t first_down = 0;  ///< those to children are edges[down[first_down ... first_down + down_count)]
  std::uint32_t down_count = 0;
};

struct TreeEdge {
  std::uint32_t child = 0;
  std::uint32_t parent = 0;
  std::uint32_t wire = 0;        ///< which cable, dense from 0 within the tree; edges may share one
  std::uint8_t channels = 1;     ///< independent channels that the cable is used as
  std::uint8_t copies = 1;       ///< back to back, on each channel
  bool cables = false;           ///< each channel is a cable of its own, as an adapter of several ports has them
  std::uint32_t more_wires = 0;  ///< where they are: that of the second channel; the others follow

  std::uint32_t wire_of(std::uint32_t channel) const { return cables && channel > 0 ? more_wires + channel - 1 : wire; }
  /// Which channel of its wire that is.
  std::uint32_t channel_on_wire(std::uint32_t channel) const { return cables ? 0 : channel; }
  std::uint32_t wire_count() const { return cables ? channels : 1; }
};

struct Tree {
  std::uint32_t hosts = 0;      ///< nodes[0 ... hosts) are the adapters, in the order they were given
  std::vector<TreeNode> nodes;  ///< children before their parents
  std::vector<TreeEdge> edges;  ///< in the order of their children
  std::vector<std::uint32_t> down;
  std::vector<std::uint32_t> roots;     ///< nodes without parents
  std::vector<fabric::LinkId> wires;    ///< the fabric's link of each wire
  std::vector<std::uint8_t> host_wire;  ///< whether a wire ends at an adapter

  std::span<const TreeEdge> up(std::uint32_t node) const {
    return std::span(edges).subspan(nodes[node].first_up, nodes[node].up_count);
  }
  std::span<const std::uint32_t> down_edges(std::uint32_t node) const {
    return std::span(down).subspan(nodes[node].first_down, nodes[node].down_count);
  }
  bool is_host(std::uint32_t node) const { return node < hosts; }
};

/// Embeds a collective of these adapters. Paths to a root follow `forwarding` where it is given, shortest paths over
/// working links (ties: the lowest node id) where it is null. Roots are switches as near as possible to all hosts;
/// with the spatial and hybrid schemes as many more as can be had without any switch handing its sum to more than
/// `scheme.copies` others. Fewer are no error: a redundancy that the fabric does not have cannot be used.
///
/// Any topology. Time: a breadth-first search for each candidate root; 1,728 hosts take milliseconds.
/// Errors (bad_input): no hosts, a node that is no adapter or is named twice; hosts that no switch can reach
/// (unavailable); forwarding tables with a hole or a loop on the way (bad_input).
Result<Tree> embed(const fabric::Fabric& fabric, const fabric::Forwarding* forwarding,
                   std::span<const fabric::NodeId> hosts, const Scheme& scheme);

/// All adapters of the fabric, in the order of node ids.
std::vector<fabric::NodeId> all_adapters(const fabric::Fabric& fabric);

/// Sets channels, copies and cables of every edge as the scheme says; embed() has done so. Once a tree.
void apply_scheme(Tree& tree, const Scheme& scheme);

/// Fills down lists, roots and host_wire from nodes' ids and edges, which must be in the order of their children.
void finish_tree(Tree& tree);

}  // namespace holdfast::simulate::collective
