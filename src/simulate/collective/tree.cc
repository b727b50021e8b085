#include "simulate/collective/tree.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace holdfast::simulate::collective {
namespace {

using fabric::Fabric;
using fabric::Forwarding;
using fabric::LinkId;
using fabric::NodeId;
using fabric::none;
using fabric::PortId;

constexpr std::uint32_t unreachable = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t most_candidates = 2048;

Status bad(std::string wrong, std::string remedy) {
  return {Code::bad_input, "embedding the collective", std::move(wrong), std::move(remedy)};
}

/// The way of every node to one root: the port it leaves by, and how many links it is from there.
struct InTree {
  NodeId root = none;
  std::vector<PortId> port;         // by node; none at the root and where there is no way
  std::vector<std::uint32_t> hops;  // by node
  std::uint32_t farthest = 0;       // of the hosts
  std::uint64_t total = 0;
};

class Embedder {
 public:
  Embedder(const Fabric& fabric, const Forwarding* forwarding, std::span<const NodeId> hosts, const Scheme& scheme)
      : fabric_(fabric), forwarding_(forwarding), hosts_(hosts), scheme_(scheme), next_hops_(fabric.nodes().size()) {}

  Result<Tree> embed() {
    if (Status status = check_hosts(); !status.ok()) return status;
    tree_.hosts = static_cast<std::uint32_t>(hosts_.size());
    for (const NodeId host : hosts_) tree_.nodes.push_back({.id = host});
    if (Status status = choose_roots(); !status.ok()) return status;
    std::stable_sort(tree_.edges.begin(), tree_.edges.end(),
                     [](const TreeEdge& a, const TreeEdge& b) { return a.child < b.child; });
    finish_tree(tree_);
    apply_scheme(tree_, scheme_);
    return std::move(tree_);
  }

 private:
  Status check_hosts() const {
    if (hosts_.empty()) return bad("no hosts take part", "name at least one adapter");
    std::vector<bool> seen(fabric_.nodes().size());
    for (const NodeId host : hosts_) {
      if (host >= seen.size() || fabric_.is_switch(host)) {
        return bad("node " + std::to_string(host) + " is no adapter", "name adapters of the fabric");
      }
      if (seen[host]) return bad("'" + fabric_.node(host).name + "' takes part twice", "name each adapter once");
      seen[host] = true;
    }
    return {};
  }

  /// Distances over working links between switches, from one switch.
  std::vector<std::uint32_t> distances(NodeId from, std::vector<PortId>* towards) const {
    std::vector<std::uint32_t> hops(fabric_.nodes().size(), unreachable);
    std::vector<NodeId> queue = {from};
    hops[from] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const NodeId node = queue[at];
      for (std::uint32_t number = 1; number <= fabric_.node(node).port_count; ++number) {
        const PortId peer = fabric_.peer(fabric_.node(node).first_port + number);
        if (peer == none) continue;
        const NodeId next = fabric_.port(peer).node;
        if (!fabric_.is_switch(next) || hops[next] != unreachable) continue;
        hops[next] = hops[node] + 1;
        if (towards != nullptr) (*towards)[next] = peer;
        queue.push_back(next);
      }
    }
    return hops;
  }

  /// Follows the forwarding tables from a switch to the root and notes every switch on the way.
  Status follow(NodeId from, InTree& tree) const {
    const fabric::Lid lid = fabric_.port(fabric_.port_of(tree.root, 0)).lid;
    std::vector<NodeId> way;
    NodeId node = from;
    while (tree.hops[node] == unreachable) {
      way.push_back(node);
      if (way.size() > fabric_.nodes().size()) {
        return bad("the forwarding tables lead in a circle from '" + fabric_.node(from).name + "' to '" +
                       fabric_.node(tree.root).name + "'",
                   "route the fabric again");
      }
      const std::uint8_t out = forwarding_->out_port(forwarding_->row_of(node), lid);
      const PortId port = out == Forwarding::no_port || out == 0 ? none : fabric_.port_of(node, out);
      const PortId peer = port == none ? none : fabric_.peer(port);
      if (peer == none || !fabric_.is_switch(fabric_.port(peer).node)) return {};  // no way to this root
      tree.port[node] = port;
      node = fabric_.port(peer).node;
    }
    for (std::uint32_t hops = tree.hops[node]; !way.empty(); way.pop_back()) tree.hops[way.back()] = ++hops;
    return {};
  }

  Result<InTree> in_tree(NodeId root) const {
    InTree tree;
    tree.root = root;
    tree.port.assign(fabric_.nodes().size(), none);
    if (forwarding_ == nullptr) {
      tree.hops = distances(root, &tree.port);
    } else {
      tree.hops.assign(fabric_.nodes().size(), unreachable);
      tree.hops[root] = 0;
    }
    for (const NodeId host : hosts_) {
      for (std::uint32_t number = 1; number <= fabric_.node(host).port_count; ++number) {
        const PortId port = fabric_.node(host).first_port + number;
        const PortId peer = fabric_.peer(port);
        if (peer == none || !fabric_.is_switch(fabric_.port(peer).node)) continue;
        const NodeId leaf = fabric_.port(peer).node;
        if (forwarding_ != nullptr) {
          if (Status status = follow(leaf, tree); !status.ok()) return status;
        }
        if (tree.hops[leaf] == unreachable || tree.hops[leaf] + 1 >= tree.hops[host]) continue;
        tree.hops[host] = tree.hops[leaf] + 1;
        tree.port[host] = port;
      }
      tree.farthest = std::max(tree.farthest, tree.hops[host]);
      tree.total += tree.hops[host];
    }
    return tree;
  }

  /// Switches that may be roots and how near they can be to all hosts' switches, nearest first: by the larger distance
  /// from two switches with hosts that lie as far apart as a double sweep finds.
  std::vector<std::pair<std::uint32_t, NodeId>> candidates() const {
    std::vector<NodeId> leaves;
    std::vector<bool> seen(fabric_.nodes().size());
    for (const NodeId host : hosts_) {
      for (std::uint32_t number = 1; number <= fabric_.node(host).port_count; ++number) {
        const PortId peer = fabric_.peer(fabric_.node(host).first_port + number);
        if (peer == none || seen[fabric_.port(peer).node] || !fabric_.is_switch(fabric_.port(peer).node)) continue;
        seen[fabric_.port(peer).node] = true;
        leaves.push_back(fabric_.port(peer).node);
      }
    }
    if (leaves.empty()) return {};
    const auto farthest = [&](const std::vector<std::uint32_t>& hops) {
      return *std::max_element(leaves.begin(), leaves.end(), [&](NodeId a, NodeId b) {
        return (hops[a] == unreachable ? 0 : hops[a]) < (hops[b] == unreachable ? 0 : hops[b]);
      });
    };
    const auto one = distances(farthest(distances(leaves.front(), nullptr)), nullptr);
    const auto other = distances(farthest(one), nullptr);
    const auto bound = [&](NodeId node) { return std::max(one[node], other[node]); };
    std::vector<std::pair<std::uint32_t, NodeId>> found;
    for (NodeId node = 0; node < fabric_.nodes().size(); ++node) {
      // a switch of another plane is out of reach of these two, yet near to all hosts by their other ports
      if (fabric_.is_switch(node)) found.emplace_back(bound(node), node);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  bool wants_more_roots() const {
    return (scheme_.protection == Protection::spatial || scheme_.protection == Protection::hybrid) &&
           scheme_.copies > 1;
  }

  Status choose_roots() {
    struct Rated {
      std::uint32_t farthest;
      std::uint64_t total;
      NodeId root;
      bool operator<(const Rated& other) const {
        return std::tie(farthest, total, root) < std::tie(other.farthest, other.total, other.root);
      }
    };
    std::vector<Rated> rated;
    std::uint32_t best = unreachable;
    for (const auto& [bound, candidate] : candidates()) {
      if (rated.size() >= most_candidates || (best != unreachable && bound != unreachable && bound + 1 > best)) break;
      auto tree = in_tree(candidate);
      if (!tree.ok()) return tree.status();
      best = std::min(best, tree.value().farthest);
      rated.push_back({tree.value().farthest, tree.value().total, candidate});
    }
    std::sort(rated.begin(), rated.end());
    if (rated.empty() || rated.front().farthest == unreachable) {
      return {Code::unavailable, "embedding the collective", "no switch can be reached from all hosts",
              "leave out the hosts that are cut off, or repair their links"};
    }
    for (const Rated& each : rated) {
      if (each.farthest != rated.front().farthest || each.total != rated.front().total) break;
      const InTree tree = in_tree(each.root).value();
      if (each.root != rated.front().root && !fits(tree)) continue;
      add(tree);
      if (!wants_more_roots()) break;
    }
    return {};
  }

  /// The switches on the hosts' ways to the root, farthest from it first.
  std::vector<NodeId> used_switches(const InTree& tree) const {
    std::vector<bool> seen(fabric_.nodes().size());
    std::vector<NodeId> used;
    for (const NodeId host : hosts_) {
      NodeId node = next_node(tree, host);
      while (!seen[node]) {
        seen[node] = true;
        used.push_back(node);
        if (node == tree.root) break;
        node = next_node(tree, node);
      }
    }
    std::sort(used.begin(), used.end(),
              [&](NodeId a, NodeId b) { return tree.hops[a] != tree.hops[b] ? tree.hops[a] > tree.hops[b] : a < b; });
    return used;
  }

  NodeId next_node(const InTree& tree, NodeId node) const { return fabric_.port(fabric_.peer(tree.port[node])).node; }

  /// Whether every switch still hands its sum to at most `copies` others when this root is added.
  bool fits(const InTree& tree) const {
    for (const NodeId node : used_switches(tree)) {
      if (node == tree.root) continue;
      const auto& held = next_hops_[node];
      if (std::find(held.begin(), held.end(), next_node(tree, node)) == held.end() && held.size() >= scheme_.copies) {
        return false;
      }
    }
    return true;
  }

  /// What a switch takes in: its own id, and whom from over which link.
  using Children = std::vector<std::pair<std::uint32_t, LinkId>>;

  void add(const InTree& tree) {
    std::map<NodeId, Children> incoming;
    for (std::uint32_t host = 0; host < tree_.hosts; ++host) {
      incoming[next_node(tree, hosts_[host])].push_back({host, fabric_.port(tree.port[hosts_[host]]).link});
    }
    for (const NodeId node : used_switches(tree)) {
      const std::uint32_t here = node_for(node, incoming[node]);
      if (node == tree.root) continue;
      const NodeId next = next_node(tree, node);
      auto& held = next_hops_[node];
      if (std::find(held.begin(), held.end(), next) == held.end()) held.push_back(next);
      incoming[next].push_back({here, fabric_.port(tree.port[node]).link});
    }
  }

  std::uint32_t node_for(NodeId node, const Children& children) {
    const auto [found, added] = known_.try_emplace({node, children}, static_cast<std::uint32_t>(tree_.nodes.size()));
    if (!added) return found->second;
    tree_.nodes.push_back({.id = node});
    for (const auto& [child, link] : children) {
      const auto [wire, fresh] = wires_.try_emplace(link, static_cast<std::uint32_t>(tree_.wires.size()));
      if (fresh) tree_.wires.push_back(link);
      tree_.edges.push_back({.child = child, .parent = found->second, .wire = wire->second});
    }
    return found->second;
  }

  const Fabric& fabric_;
  const Forwarding* forwarding_;
  std::span<const NodeId> hosts_;
  Scheme scheme_;
  Tree tree_;
  std::vector<std::vector<NodeId>> next_hops_;  // by node
  std::map<std::pair<NodeId, Children>, std::uint32_t> known_;
  std::map<LinkId, std::uint32_t> wires_;
};

}  // namespace

void finish_tree(Tree& tree) {
  const auto nodes = static_cast<std::uint32_t>(tree.nodes.size());
  for (TreeNode& node : tree.nodes) node.up_count = node.down_count = 0;
  for (const TreeEdge& edge : tree.edges) {
    ++tree.nodes[edge.child].up_count;
    ++tree.nodes[edge.parent].down_count;
  }
  std::uint32_t up = 0;
  std::uint32_t below = 0;
  tree.roots.clear();
  for (std::uint32_t node = 0; node < nodes; ++node) {
    tree.nodes[node].first_up = std::exchange(up, up + tree.nodes[node].up_count);
    tree.nodes[node].first_down = std::exchange(below, below + tree.nodes[node].down_count);
    if (tree.nodes[node].up_count == 0) tree.roots.push_back(node);
  }
  tree.down.resize(tree.edges.size());
  std::vector<std::uint32_t> filled(nodes);
  tree.host_wire.assign(tree.wires.size(), 0);
  for (std::uint32_t edge = 0; edge < tree.edges.size(); ++edge) {
    const std::uint32_t parent = tree.edges[edge].parent;
    tree.down[tree.nodes[parent].first_down + filled[parent]++] = edge;
    if (!tree.is_host(tree.edges[edge].child)) continue;
    for (std::uint32_t i = 0; i < tree.edges[edge].wire_count(); ++i) tree.host_wire[tree.edges[edge].wire_of(i)] = 1;
  }
}

void apply_scheme(Tree& tree, const Scheme& scheme) {
  for (TreeEdge& edge : tree.edges) {
    const bool host = tree.is_host(edge.child);
    edge.channels = 1;
    edge.copies = 1;
    if (scheme.protection == Protection::temporal || (scheme.protection == Protection::hybrid && host)) {
      edge.copies = scheme.copies;
    }
    if (scheme.protection == Protection::spatial && host) {
      // an adapter that hangs on several switches has its independent ways already
      edge.channels = tree.nodes[edge.child].up_count > 1 ? std::uint8_t{1} : scheme.copies;
      edge.cables = scheme.dual_port && edge.channels > 1;
      edge.more_wires = static_cast<std::uint32_t>(tree.wires.size());
      for (std::uint32_t i = 1; i < edge.wire_count(); ++i) {
        tree.wires.push_back(tree.wires[edge.wire]);
        tree.host_wire.push_back(1);
      }
    }
  }
}

std::vector<NodeId> all_adapters(const Fabric& fabric) {
  std::vector<NodeId> found;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) found.push_back(node);
  }
  return found;
}

Result<Tree> embed(const Fabric& fabric, const Forwarding* forwarding, std::span<const NodeId> hosts,
                   const Scheme& scheme) {
  return Embedder(fabric, forwarding, hosts, scheme).embed();
}

}  // namespace holdfast::simulate::collective
