#include "fabric/routing/graph/choices.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// Any combination of choices must keep the rule: walk them all, and see that none turns from down to up.
void expect_legal(const SwitchGraph& graph, const SwitchOrder& order, const Choices& choices) {
  std::vector<int> goes_down(graph.rows(), 0);
  std::vector<std::vector<std::uint32_t>> next(graph.rows());
  for (std::size_t i = 1; i < choices.order.size(); ++i) {
    for (std::uint32_t at = choices.first[i]; at < choices.first[i + 1]; ++at) {
      next[choices.order[i]].push_back(choices.arcs[at]);
    }
    EXPECT_FALSE(next[choices.order[i]].empty());
  }
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    for (const std::uint32_t in : next[row]) {
      const bool came_down = order.position[graph.arc(in).to] > order.position[row];
      for (const std::uint32_t out : next[graph.arc(in).to]) {
        const bool goes_up = order.position[graph.arc(out).to] < order.position[graph.arc(out).from];
        EXPECT_FALSE(came_down && goes_up);
      }
    }
  }
}

TEST(UpDownRule, NeverTurnsUpAndJoinsAllUnderOneTop) {
  for (const char* text : {"torus(5,4) hosts=20", "kautz(3,2) hosts=12", "random(20,4) hosts=20 ports=6",
                           "dragonfly(4,2,2,5)", "tree(3,3)"}) {
    const SwitchGraph graph(generate(text).value());
    const SwitchOrder order = order_by(graph, {});
    UpDownRule rule(graph, order);
    Choices choices;
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      rule.choices_to(row, choices);
      EXPECT_EQ(choices.order.size(), graph.rows()) << text;
      EXPECT_EQ(choices.order[0], row);
      expect_legal(graph, order, choices);
    }
  }
}

TEST(MinimalRule, AllowsEveryShortestPathAndNothingElse) {
  const SwitchGraph graph(generate("torus(5,5) links=2 hosts=25").value());
  MinimalRule rule(graph);
  Choices choices;
  rule.choices_to(7, choices);
  std::vector<std::uint32_t> hops;
  graph.distances_to(7, hops);
  std::size_t allowed = 0;
  for (const SwitchGraph::Arc& arc : graph.arcs()) allowed += hops[arc.to] + 1 == hops[arc.from] ? 1 : 0;
  EXPECT_EQ(choices.arcs.size(), allowed);
}

TEST(ChannelsOfRest, LeadSwitchesThatTheRuleLeavesOut) {
  const SwitchGraph graph(generate("tree(3,3)").value());
  std::vector<std::uint32_t> key = levels_above_adapters(graph);
  for (std::uint32_t& level : key) level = none - level;
  const SwitchOrder order = order_by(graph, key);
  UpDownRule rule(graph, order);
  Choices choices;
  std::uint32_t top = 0;
  while (key[top] != none - 2) ++top;
  rule.choices_to(top, choices);
  EXPECT_LT(choices.order.size(), graph.rows()) << "tops reach no other top by going up and then down";
  EXPECT_EQ(channels_of_rest(graph, choices).size(), graph.rows() - choices.order.size());
}

}  // namespace
}  // namespace holdfast::fabric
