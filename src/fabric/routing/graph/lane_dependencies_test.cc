#include "fabric/routing/graph/lane_dependencies.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// The arcs once round a ring, each out of the switch that the one before leads to.
std::vector<std::uint32_t> round_a_ring(const SwitchGraph& graph) {
  std::vector<std::uint32_t> ring = {0};
  while (ring.size() < graph.rows()) {
    const SwitchGraph::Arc& last = graph.arc(ring.back());
    std::uint32_t next = graph.first_arc(last.to);
    if (graph.arc(next).to == last.from) ++next;
    ring.push_back(next);
  }
  return ring;
}

class LaneDependenciesOfARing : public testing::Test {
 protected:
  const Fabric fabric_ = generate("torus(5) hosts=5").value();
  const SwitchGraph graph_{fabric_};
  const DependencySpace space_{graph_};
  const std::vector<std::uint32_t> ring_ = round_a_ring(graph_);
};

TEST_F(LaneDependenciesOfARing, OnceRoundInOneLaneIsACycle) {
  for (std::uint8_t lane = 0; lane < LaneDependencies::most_lanes; ++lane) {
    LaneDependencies dependencies(space_);
    EXPECT_TRUE(dependencies.find_cycle().empty());
    for (std::size_t i = 0; i < ring_.size(); ++i) {
      EXPECT_TRUE(dependencies.find_cycle().empty()) << "open at " << i;
      dependencies.add({ring_[i], lane}, {ring_[(i + 1) % ring_.size()], lane});
    }
    const std::vector<LaneOfArc> cycle = dependencies.find_cycle();
    ASSERT_EQ(cycle.size(), ring_.size());
    for (std::size_t i = 0; i < cycle.size(); ++i)
      EXPECT_TRUE(dependencies.has(cycle[i], cycle[(i + 1) % cycle.size()]));
  }
}

TEST_F(LaneDependenciesOfARing, ADatelineBreaksItAndComingBackClosesIt) {
  LaneDependencies dependencies(space_);
  for (std::size_t i = 0; i + 1 < ring_.size(); ++i) {
    dependencies.add({ring_[i], 0}, {ring_[i + 1], 0});
    dependencies.add({ring_[i], 1}, {ring_[i + 1], 1});
  }
  dependencies.add({ring_.back(), 0}, {ring_.front(), 1});
  EXPECT_TRUE(dependencies.find_cycle().empty());
  EXPECT_FALSE(dependencies.has({ring_.back(), 1}, {ring_.front(), 0}));
  dependencies.add({ring_.back(), 1}, {ring_.front(), 0});
  EXPECT_EQ(dependencies.find_cycle().size(), 2 * ring_.size());
}

}  // namespace
}  // namespace holdfast::fabric
