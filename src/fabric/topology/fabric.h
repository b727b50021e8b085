#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/topology/link_rate.h"
#include "fabric/topology/structure.h"

/// An InfiniBand network as its subnet manager sees it: nodes (switches and channel adapters), their ports, and the
/// links between ports.
namespace holdfast::fabric {

/// Indices into Fabric's arrays, dense from 0. `none` says "there is no such thing".
using NodeId = std::uint32_t;
using PortId = std::uint32_t;
using LinkId = std::uint32_t;
inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// A local identifier (InfiniBand Architecture Specification 1.3, 4.1.3). Unicast ones are 1 to 0xBFFF, so a subnet has
/// at most 49,151 of them; larger generated fabrics use the same numbers beyond that bound and cannot be exported.
using Lid = std::uint32_t;

enum class NodeKind : std::uint8_t { adapter, switch_ };

/// Ports 0 to port_count of a node lie at first_port ... first_port + port_count. Port 0 is a switch's management port;
/// an adapter has none, and its slot 0 is unused, so that port numbers are those printed on the case.
struct Node {
  NodeKind kind = NodeKind::switch_;
  std::uint8_t port_count = 0;  ///< external ports
  PortId first_port = none;
  std::uint64_t guid = 0;         ///< NodeGUID
  std::uint64_t system_guid = 0;  ///< SystemImageGUID
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::string name;  ///< NodeDescription, unique within a fabric
};

struct Port {
  NodeId node = none;
  LinkId link = none;      ///< the cable in it, working or not
  Lid lid = 0;             ///< 0: none yet. A switch's ports share that of its port 0
  std::uint8_t lmc = 0;    ///< 2^lmc consecutive LIDs from `lid` on lead here
  std::uint64_t guid = 0;  ///< PortGUID; a switch's external ports have that of its port 0
  LinkRate capable;        ///< the best the port can do
};

/// A cable between two different ports. Parallel links and, in damaged inputs, links of a node to itself are possible.
struct Link {
  PortId a = none;
  PortId b = none;
  LinkRate rate;        ///< what it came up with
  double length_m = 0;  ///< 0: not known
  bool up = true;       ///< false: the cable is there and carries nothing
};

/// The network. Nodes, ports and links are only ever added; what fails is marked down (set_link_up), so that ids stay
/// valid and a healthy fabric can be compared with its degraded self. A value type: copy it to try something.
///
/// 50,000 hosts cost about 20 MB. Const access from any number of threads; changes from one.
class Fabric {
 public:
  /// Room for so many of each, so that adding them moves nothing.
  void reserve(std::size_t nodes, std::size_t ports, std::size_t links);

  /// Adds a node with unconnected ports; guid 0 gives it the next free one of its own. port_count at most 254.
  NodeId add_node(NodeKind kind, std::uint8_t port_count, std::string name, std::uint64_t guid = 0);

  /// Connects two unconnected ports of the fabric.
  LinkId add_link(PortId a, PortId b, LinkRate rate = {});

  /// Connects the lowest free port of each node; `none`, and nothing is changed, when either has none left.
  LinkId connect(NodeId a, NodeId b, LinkRate rate = {});

  void set_link_up(LinkId link, bool up) { links_[link].up = up; }

  /// Gives every switch, then every adapter port that has a cable, the next LID from 1 on, in the order of ids;
  /// adapters get 2^lmc (0 to 7) each, from a multiple of that on.
  void assign_lids(std::uint32_t lmc = 0);

  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Port> ports() const { return ports_; }
  std::span<const Link> links() const { return links_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Port& port(PortId id) const { return ports_[id]; }
  const Link& link(LinkId id) const { return links_[id]; }
  Node& mutable_node(NodeId id) { return nodes_[id]; }
  Port& mutable_port(PortId id) { return ports_[id]; }
  Link& mutable_link(LinkId id) { return links_[id]; }

  bool is_switch(NodeId id) const { return nodes_[id].kind == NodeKind::switch_; }
  PortId port_of(NodeId id, std::uint8_t number) const { return nodes_[id].first_port + number; }
  std::uint8_t number_of(PortId id) const { return static_cast<std::uint8_t>(id - nodes_[ports_[id].node].first_port); }

  /// The port at the other end of a working cable; `none` without one.
  PortId peer(PortId id) const {
    const LinkId link = ports_[id].link;
    if (link == none || !links_[link].up) return none;
    return links_[link].a == id ? links_[link].b : links_[link].a;
  }

  /// How the generator arranged the switches; Shape::unknown for an imported fabric.
  const Structure& structure() const { return structure_; }
  void set_structure(Structure structure) { structure_ = std::move(structure); }

  /// How many there are, down or not. A switch-to-switch link has two switches at its ends.
  std::uint32_t switch_count() const { return switch_count_; }
  std::uint32_t adapter_count() const { return static_cast<std::uint32_t>(nodes_.size()) - switch_count_; }

  /// The node of this name or with this GUID; `none` when there is none. Linear: for command lines, not for loops.
  NodeId find(std::string_view name) const;
  NodeId find_guid(std::uint64_t guid) const;

  /// The largest LID in use, lmc included; 0 without any.
  Lid top_lid() const;

 private:
  std::vector<Node> nodes_;
  std::vector<Port> ports_;
  std::vector<Link> links_;
  Structure structure_;
  std::uint32_t switch_count_ = 0;
  std::uint64_t next_guid_ = 0x0002c90000000001;
};

}  // namespace holdfast::fabric
