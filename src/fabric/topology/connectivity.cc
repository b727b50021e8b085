#include "fabric/topology/connectivity.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::fabric {

namespace {

/// Maximum flow with small whole capacities. E. Dinitz, "Algorithm for Solution of a Problem of Maximum Flow in
/// Networks with Power Estimation", 1970.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::uint32_t vertices) : first_(vertices), level_(vertices), next_(vertices) {}

  /// An arc from a to b, and one back.
  void add(std::uint32_t a, std::uint32_t b, std::uint32_t capacity, std::uint32_t back) {
    first_[a].push_back(static_cast<std::uint32_t>(arcs_.size()));
    arcs_.push_back({b, capacity, capacity});
    first_[b].push_back(static_cast<std::uint32_t>(arcs_.size()));
    arcs_.push_back({a, back, back});
  }

  /// The largest flow, or `limit` if that is less.
  std::uint32_t flow(std::uint32_t from, std::uint32_t to, std::uint32_t limit) {
    for (Arc& arc : arcs_) arc.left = arc.capacity;
    std::uint32_t total = 0;
    while (total < limit && find_levels(from, to)) {
      std::ranges::fill(next_, 0U);
      while (total < limit) {
        const std::uint32_t sent = send(from, to, limit - total);
        if (sent == 0) break;
        total += sent;
      }
    }
    return total;
  }

 private:
  struct Arc {
    std::uint32_t to, capacity, left;
  };

  bool find_levels(std::uint32_t from, std::uint32_t to) {
    std::ranges::fill(level_, none);
    level_[from] = 0;
    queue_.assign(1, from);
    for (std::size_t i = 0; i < queue_.size() && level_[to] == none; ++i) {
      for (std::uint32_t arc : first_[queue_[i]]) {
        if (arcs_[arc].left == 0 || level_[arcs_[arc].to] != none) continue;
        level_[arcs_[arc].to] = level_[queue_[i]] + 1;
        queue_.push_back(arcs_[arc].to);
      }
    }
    return level_[to] != none;
  }

  /// Sends along one path of rising levels. Depth: at most the number of vertices on a shortest path.
  std::uint32_t send(std::uint32_t at, std::uint32_t to, std::uint32_t most) {
    if (at == to) return most;
    for (std::uint32_t& i = next_[at]; i < first_[at].size(); ++i) {
      const std::uint32_t id = first_[at][i];
      if (arcs_[id].left == 0 || level_[arcs_[id].to] != level_[at] + 1) continue;
      const std::uint32_t sent = send(arcs_[id].to, to, std::min(most, arcs_[id].left));
      if (sent == 0) continue;
      arcs_[id].left -= sent;
      arcs_[id ^ 1U].left += sent;
      return sent;
    }
    return 0;
  }

  std::vector<Arc> arcs_;
  std::vector<std::vector<std::uint32_t>> first_;
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> queue_;
};

/// The graph of switches: for each pair with a < b, how many working links. Switches are numbered densely.
struct SwitchGraph {
  struct Pair {
    std::uint32_t a, b, links;
  };
  std::uint32_t switches = 0;
  std::vector<Pair> pairs;
  std::vector<std::vector<std::uint32_t>> neighbours;  // sorted
};

SwitchGraph graph_of(const Fabric& fabric) {
  SwitchGraph graph;
  std::vector<std::uint32_t> number(fabric.nodes().size(), none);
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (fabric.is_switch(id)) number[id] = graph.switches++;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (const Link& link : fabric.links()) {
    const std::uint32_t a = number[fabric.port(link.a).node];
    const std::uint32_t b = number[fabric.port(link.b).node];
    if (link.up && a != none && b != none && a != b) ends.push_back(std::minmax(a, b));
  }
  std::ranges::sort(ends);
  graph.neighbours.resize(graph.switches);
  for (auto [a, b] : ends) {
    if (!graph.pairs.empty() && graph.pairs.back().a == a && graph.pairs.back().b == b) {
      ++graph.pairs.back().links;
      continue;
    }
    graph.pairs.push_back({a, b, 1});
    graph.neighbours[a].push_back(b);
    graph.neighbours[b].push_back(a);
  }
  for (auto& list : graph.neighbours) std::ranges::sort(list);
  return graph;
}

/// The farthest distance from a switch; `none` when some switch cannot be reached.
std::uint32_t eccentricity(const SwitchGraph& graph, std::uint32_t from, std::vector<std::uint32_t>& distance) {
  distance.assign(graph.switches, none);
  distance[from] = 0;
  std::vector<std::uint32_t> queue{from};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::uint32_t next : graph.neighbours[queue[i]]) {
      if (distance[next] != none) continue;
      distance[next] = distance[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  return queue.size() == graph.switches ? distance[queue.back()] : none;
}

}  // namespace

std::uint32_t vertex_connectivity(const Fabric& fabric) {
  const SwitchGraph graph = graph_of(fabric);
  if (graph.switches < 2) return 0;
  // Switch v is two vertices, 2v where arcs come in and 2v + 1 where they leave, with one unit between.
  FlowNetwork network(2 * graph.switches);
  for (std::uint32_t v = 0; v < graph.switches; ++v) network.add(2 * v, 2 * v + 1, 1, 0);
  for (const SwitchGraph::Pair& pair : graph.pairs) {
    network.add(2 * pair.a + 1, 2 * pair.b, 1, 0);
    network.add(2 * pair.b + 1, 2 * pair.a, 1, 0);
  }
  std::uint32_t least = graph.switches - 1;
  for (std::uint32_t v = 0; v < graph.switches && v <= least; ++v) {
    for (std::uint32_t u = v + 1; u < graph.switches; ++u) {
      if (std::ranges::binary_search(graph.neighbours[v], u)) continue;
      least = std::min(least, network.flow(2 * v + 1, 2 * u, least));
    }
  }
  return least;
}

std::uint32_t edge_connectivity(const Fabric& fabric) {
  const SwitchGraph graph = graph_of(fabric);
  if (graph.switches < 2) return 0;
  FlowNetwork network(graph.switches);
  for (const SwitchGraph::Pair& pair : graph.pairs) network.add(pair.a, pair.b, pair.links, pair.links);
  std::uint32_t least = none;
  for (std::uint32_t v = 1; v < graph.switches; ++v) least = std::min(least, network.flow(0, v, least));
  return least;
}

std::uint32_t diameter(const Fabric& fabric) {
  const SwitchGraph graph = graph_of(fabric);
  std::uint32_t longest = 0;
  std::vector<std::uint32_t> distance;
  for (std::uint32_t v = 0; v < graph.switches; ++v) {
    const std::uint32_t farthest = eccentricity(graph, v, distance);
    if (farthest == none) return none;
    longest = std::max(longest, farthest);
  }
  return longest;
}

}  // namespace holdfast::fabric
