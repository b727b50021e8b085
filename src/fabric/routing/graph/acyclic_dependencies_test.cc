#include "fabric/routing/graph/acyclic_dependencies.h"

#include <gtest/gtest.h>

#include <set>

#include "core/random/stream.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// Whether `to` can be reached from `from` along these edges.
bool leads(const std::set<std::pair<std::uint32_t, std::uint32_t>>& edges, std::uint32_t from, std::uint32_t to) {
  std::set<std::uint32_t> seen = {from};
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [a, b] : edges) grown = (seen.count(a) != 0 && seen.insert(b).second) || grown;
  }
  return seen.count(to) != 0;
}

TEST(AcyclicDependencies, RefusesExactlyWhatClosesACycle) {
  const SwitchGraph graph(generate("random(7,4) hosts=7 ports=8 seed=5").value());
  const DependencySpace space(graph);
  AcyclicDependencies kept(space);
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  random::Stream draw = random::Stream(7).child("dependencies");
  unsigned refused = 0;
  for (unsigned i = 0; i < 1500; ++i) {
    const auto a = static_cast<std::uint32_t>(draw.below(graph.arcs().size()));
    const auto& next = graph.arcs_of(graph.arc(a).to);
    const auto b = graph.first_arc(graph.arc(a).to) + static_cast<std::uint32_t>(draw.below(next.size()));
    if (draw.chance(1, 5)) {
      if (kept.has(a, b)) {
        kept.remove(a, b);
        kept.forget_refusals();
        edges.erase({a, b});
      }
      continue;
    }
    const bool closes = a == b || leads(edges, b, a);
    ASSERT_EQ(kept.add(a, b), !closes) << "step " << i;
    if (!closes) edges.insert({a, b});
    refused += closes ? 1 : 0;
  }
  EXPECT_GT(refused, 50U);
}

TEST(AcyclicDependencies, APathIsAddedWholeOrNotAtAll) {
  const SwitchGraph graph(generate("torus(4) hosts=4").value());
  const DependencySpace space(graph);
  AcyclicDependencies kept(space);
  const auto arc = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t id = graph.first_arc(from); id < graph.first_arc(from + 1); ++id) {
      if (graph.arc(id).to == to) return id;
    }
    return none;
  };
  EXPECT_TRUE(kept.add_path({arc(0, 1), arc(1, 2), arc(2, 3)}));
  EXPECT_FALSE(kept.add_path({arc(3, 0), arc(0, 1)}) && kept.add_path({arc(2, 3), arc(3, 0)}));
  AcyclicDependencies fresh(space);
  EXPECT_TRUE(fresh.add(arc(2, 3), arc(3, 0)));
  EXPECT_TRUE(fresh.add(arc(3, 0), arc(0, 1)));
  EXPECT_FALSE(fresh.add_path({arc(0, 1), arc(1, 2), arc(2, 3)}));
  EXPECT_FALSE(fresh.has(arc(0, 1), arc(1, 2))) << "the first half does not stay";
  EXPECT_TRUE(fresh.add(arc(1, 2), arc(2, 3))) << "and the refusal of the second is not remembered";
}

}  // namespace
}  // namespace holdfast::fabric
