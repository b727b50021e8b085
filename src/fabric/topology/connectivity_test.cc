#include "fabric/topology/connectivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "core/random/stream.h"

namespace holdfast::fabric {
namespace {

struct Sample {
  Fabric fabric;
  std::vector<std::pair<unsigned, unsigned>> edges;
};

Sample random_graph(random::Stream& stream, unsigned nodes, unsigned edges) {
  Sample sample;
  for (unsigned i = 0; i < nodes; ++i) sample.fabric.add_node(NodeKind::switch_, 40, std::to_string(i));
  for (unsigned i = 0; i < edges; ++i) {
    const auto a = static_cast<unsigned>(stream.below(nodes));
    const auto b = static_cast<unsigned>(stream.below(nodes));
    sample.fabric.connect(a, b);
    if (a != b) sample.edges.emplace_back(a, b);
  }
  return sample;
}

bool connected_without(const Sample& sample, unsigned nodes, unsigned removed) {
  const unsigned all = (1U << nodes) - 1 - removed;
  unsigned reached = all & (~all + 1);
  for (unsigned before = 0; before != reached;) {
    before = reached;
    for (auto [a, b] : sample.edges) {
      const unsigned ends = 1U << a | 1U << b;
      if ((ends & all) == ends && (ends & reached) != 0) reached |= ends;
    }
  }
  return reached == all;
}

/// Tries every set of switches.
unsigned vertex_cut(const Sample& sample, unsigned nodes) {
  unsigned least = nodes - 1;
  for (unsigned removed = 0; removed < 1U << nodes; ++removed) {
    const auto size = static_cast<unsigned>(std::popcount(removed));
    if (size + 2 <= nodes && size < least && !connected_without(sample, nodes, removed)) least = size;
  }
  return least;
}

/// Tries every way to part the switches in two.
unsigned edge_cut(const Sample& sample, unsigned nodes) {
  unsigned least = 1000;
  for (unsigned side = 1; side < (1U << nodes) - 1; ++side) {
    unsigned across = 0;
    for (auto [a, b] : sample.edges) across += (side >> a & 1) != (side >> b & 1) ? 1 : 0;
    least = std::min(least, across);
  }
  return least;
}

TEST(Connectivity, AgreesWithEveryCutTried) {
  random::Stream stream(11);
  for (unsigned trial = 0; trial < 300; ++trial) {
    const unsigned nodes = 2 + static_cast<unsigned>(stream.below(6));
    const Sample sample = random_graph(stream, nodes, static_cast<unsigned>(stream.below(4 * nodes)));
    EXPECT_EQ(vertex_connectivity(sample.fabric), vertex_cut(sample, nodes)) << trial;
    EXPECT_EQ(edge_connectivity(sample.fabric), edge_cut(sample, nodes)) << trial;
    EXPECT_EQ(diameter(sample.fabric) == none, edge_cut(sample, nodes) == 0) << trial;
  }
}

TEST(Connectivity, LinksThatAreDownDoNotCount) {
  Fabric fabric;
  for (const char* name : {"a", "b", "c"}) fabric.add_node(NodeKind::switch_, 4, name);
  fabric.connect(0, 1);
  fabric.connect(1, 2);
  const LinkId third = fabric.connect(2, 0);
  EXPECT_EQ(edge_connectivity(fabric), 2U);
  EXPECT_EQ(diameter(fabric), 1U);
  fabric.set_link_up(third, false);
  EXPECT_EQ(edge_connectivity(fabric), 1U);
  EXPECT_EQ(diameter(fabric), 2U);
  fabric.set_link_up(0, false);
  EXPECT_EQ(edge_connectivity(fabric), 0U);
  EXPECT_EQ(diameter(fabric), none);
  EXPECT_EQ(vertex_connectivity(Fabric()), 0U);
}

}  // namespace
}  // namespace holdfast::fabric
