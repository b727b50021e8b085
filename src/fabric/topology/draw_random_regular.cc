#include <algorithm>
#include <string>
#include <utility>

#include "core/random/stream.h"
#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

/// A simple graph as a list of edges and a matrix that says which there are.
struct Graph {
  std::uint32_t nodes;
  std::vector<Edge> edges;
  std::vector<bool> linked;

  bool has(std::uint32_t a, std::uint32_t b) const { return linked[std::size_t{a} * nodes + b]; }
  void mark(std::uint32_t a, std::uint32_t b, bool there) {
    linked[std::size_t{a} * nodes + b] = there;
    linked[std::size_t{b} * nodes + a] = there;
  }
};

/// Every node is linked to the nearest ones on a circle, and to the one across when the degree is odd.
Graph circulant(std::uint32_t nodes, std::uint32_t degree) {
  Graph graph{nodes, {}, std::vector<bool>(std::size_t{nodes} * nodes)};
  auto link = [&](std::uint32_t a, std::uint32_t b) {
    graph.edges.emplace_back(a, b);
    graph.mark(a, b, true);
  };
  for (std::uint32_t a = 0; a < nodes; ++a) {
    for (std::uint32_t step = 1; step <= degree / 2; ++step) link(a, (a + step) % nodes);
    if (degree % 2 == 1 && a < nodes / 2) link(a, a + nodes / 2);
  }
  return graph;
}

/// Swaps the ends of two random edges where that leaves a simple graph. Many of them make all regular graphs about as
/// likely (C. Cooper, M. Dyer, C. Greenhill, "Sampling Regular Graphs and a Peer-to-Peer Network", 2007).
void swap_ends(Graph& graph, random::Stream& stream, std::size_t tries) {
  for (std::size_t i = 0; i < tries; ++i) {
    Edge& first = graph.edges[stream.below(graph.edges.size())];
    Edge& second = graph.edges[stream.below(graph.edges.size())];
    const bool crossed = stream.below(2) == 1;
    auto [a, b] = first;
    auto [c, d] = second;
    if (crossed) std::swap(c, d);
    if (&first == &second || a == c || b == d || a == d || b == c || graph.has(a, c) || graph.has(b, d)) continue;
    graph.mark(a, b, false);
    graph.mark(c, d, false);
    graph.mark(a, c, true);
    graph.mark(b, d, true);
    first = {a, c};
    second = {b, d};
  }
}

bool connected(const Graph& graph) {
  std::vector<std::vector<std::uint32_t>> neighbours(graph.nodes);
  for (auto [a, b] : graph.edges) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::vector<bool> seen(graph.nodes);
  std::vector<std::uint32_t> queue{0};
  seen[0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::uint32_t next : neighbours[queue[i]]) {
      if (seen[next]) continue;
      seen[next] = true;
      queue.push_back(next);
    }
  }
  return queue.size() == graph.nodes;
}

}  // namespace

Result<Blueprint> draw_random_regular(const Topology& topology) {
  const std::uint32_t nodes = topology.arguments[0][0];
  const std::uint32_t degree = topology.arguments[0][1];
  const std::uint32_t r = topology.links;
  if (nodes < 1 || degree >= nodes || nodes * std::uint64_t{degree} % 2 != 0)
    return cannot_generate(topology, "there is no such regular graph",
                           "the degree is below the number of switches, and their product is even");
  if (degree < 2 && nodes > 2)
    return cannot_generate(topology, "such a graph is never connected", "give a degree of 2 or more");
  if (nodes > 20'000) return cannot_generate(topology, "more than 20000 switches", "give fewer");
  if (Status status = check_size(topology, nodes, product(product(nodes, degree), r)); !status.ok()) return status;
  random::Stream stream = random::Stream(topology.seed).child("fabric").child("random-regular");
  Graph graph = circulant(nodes, degree);
  for (int attempt = 0; attempt == 0 || !connected(graph); ++attempt) {
    if (attempt == 100)
      return cannot_generate(topology, "100 random graphs were not connected", "give a higher degree");
    swap_ends(graph, stream, 20 * graph.edges.size());
  }
  for (auto& [a, b] : graph.edges) {
    if (a > b) std::swap(a, b);
  }
  std::ranges::sort(graph.edges);
  Blueprint plan;
  plan.structure.shape = Shape::random_regular;
  plan.switches = nodes;
  std::vector<std::uint32_t> used(nodes);
  for (auto [a, b] : graph.edges) plan.add_cables(a, used[a]++ * r + 1, b, used[b]++ * r + 1, r);
  plan.hosts_everywhere(1);
  return plan;
}

}  // namespace holdfast::fabric
