#include "fabric/routing/engines/up_down_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "fabric/check/credit_loops.h"
#include "fabric/check/naive_routes_for_tests.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

/// Switches that have no neighbour before them.
std::vector<std::uint32_t> tops(const SwitchGraph& graph, const SwitchOrder& order) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = 0; at < order.rows.size(); ++at) {
    bool below = false;
    for (const SwitchGraph::Arc& arc : graph.arcs_of(order.rows[at])) below = below || order.position[arc.to] < at;
    if (!below) found.push_back(order.rows[at]);
  }
  return found;
}

void expect_order(const SwitchGraph& graph, const SwitchOrder& order) {
  std::vector<std::uint32_t> rows = order.rows;
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(rows.size(), graph.rows());
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    EXPECT_EQ(rows[row], row);
    EXPECT_EQ(order.rows[order.position[row]], row);
  }
}

TEST(UpDownOrder, DepthFirstGoesDownALineAndHasOneTopAPart) {
  Fabric line = generate("mesh(6) hosts=6").value();
  const SwitchGraph whole(line);
  const SwitchOrder order = depth_first_order(whole, 0);
  expect_order(whole, order);
  EXPECT_EQ(tops(whole, order), std::vector<std::uint32_t>{0});
  for (LinkId link = 0; link < line.links().size(); ++link) {
    const NodeId a = line.port(line.link(link).a).node;
    const NodeId b = line.port(line.link(link).b).node;
    if (std::min(a, b) == 2 && std::max(a, b) == 3) line.set_link_up(link, false);
  }
  const SwitchGraph cut(line);
  expect_order(cut, depth_first_order(cut, 4));
  EXPECT_EQ(tops(cut, depth_first_order(cut, 4)).size(), 2U);
}

TEST(UpDownOrder, SearchedOrdersJoinEverythingAndCostNoMore) {
  for (const char* text : {"mesh(4,4) hosts=16", "kautz(2,3) hosts=24", "dragonfly(4,2,2,5)",
                           "random(16,3) hosts=32 ports=8", "slimfly(5) hosts=100"}) {
    SCOPED_TRACE(text);
    const Fabric fabric = generate(text).value();
    const SwitchGraph graph(fabric);
    const UpDownOrders orders = search_up_down_orders(graph);
    expect_order(graph, orders.drawn);
    expect_order(graph, orders.searched);
    EXPECT_EQ(tops(graph, orders.drawn).size(), 1U);
    EXPECT_EQ(tops(graph, orders.searched).size(), 1U);
    EXPECT_LE(up_down_cost(graph, orders.searched), up_down_cost(graph, orders.drawn));
    const std::vector<SwitchOrder> further = further_up_down_orders(graph, 1);
    const std::vector<SwitchOrder> by_three = further_up_down_orders(graph, 3);
    EXPECT_EQ(further.size(), 12U);
    ASSERT_EQ(by_three.size(), further.size());
    for (std::size_t i = 0; i < further.size(); ++i) {
      expect_order(graph, further[i]);
      EXPECT_EQ(tops(graph, further[i]).size(), 1U);
      EXPECT_EQ(by_three[i].rows, further[i].rows) << i;
    }
  }
}

TEST(UpDownOrder, TheLongestWayUpIsCountedByHand) {
  const Fabric line = generate("mesh(6) hosts=6").value();
  const SwitchGraph graph(line);
  EXPECT_EQ(longest_way_up(graph, depth_first_order(graph, 0)), 5U);
  EXPECT_EQ(longest_way_up(graph, depth_first_order(graph, 2)), 3U);
  EXPECT_EQ(longest_way_up(graph, order_by(graph, {1, 0, 1, 0, 1, 0})), 1U);
}

/// The longest chain of cables of which each is followed by the next on the way of some pair of adapters: packets
/// wait for one another along it when the network is driven past what it carries.
std::size_t longest_chain(const Fabric& fabric, const Forwarding& tables) {
  std::map<naive::Buffer, std::set<naive::Buffer>> next;
  for (PortId source = 0; source < fabric.ports().size(); ++source) {
    for (PortId to = 0; to < fabric.ports().size(); ++to) {
      if (source == to || fabric.is_switch(fabric.port(source).node) || fabric.is_switch(fabric.port(to).node))
        continue;
      if (fabric.peer(source) == none || fabric.peer(to) == none) continue;
      const naive::Way way = naive::walk(fabric, tables, source, fabric.port(to).lid, to);
      for (std::size_t i = 1; i < way.buffers.size(); ++i) next[way.buffers[i - 1]].insert(way.buffers[i]);
    }
  }
  std::map<naive::Buffer, std::size_t> length;
  const std::function<std::size_t(const naive::Buffer&)> chain_from = [&](const naive::Buffer& buffer) {
    if (const auto known = length.find(buffer); known != length.end()) return known->second;
    std::size_t longest = 0;
    if (const auto waits = next.find(buffer); waits != next.end()) {
      for (const naive::Buffer& one : waits->second) longest = std::max(longest, chain_from(one));
    }
    return length[buffer] = longest + 1;
  };
  std::size_t longest = 0;
  for (const auto& [buffer, waits] : next) longest = std::max(longest, chain_from(buffer));
  return longest;
}

/// Chains of 40, 48, 34 and 40 cables came of orders that were searched for even loads alone, and halved what meshes
/// carry at full load.
TEST(UpDownOrder, ChainsOfPacketsThatWaitStayShort) {
  const struct {
    const char* text;
    std::size_t most;
  } rows[] = {{"mesh-5x5", 16}, {"mesh-3x3x3", 16}, {"torus-5x5", 16}, {"kautz-2-4", 16}};
  for (const auto& row : rows) {
    const Fabric fabric = generate(row.text).value();
    EXPECT_LE(longest_chain(fabric, route(fabric, "updn").value()), row.most) << row.text;
  }
}

/// Fullest links, at most. OpenSM 3.3.23's updn has 1,496, 902, 1,034, 568 and 1,442 on the presets, in this order.
TEST(UpDownOrder, UpAndDownIsEvenWithoutLevels) {
  const struct {
    const char* text;
    std::uint64_t most;
  } rows[] = {{"mesh-5x5", 920},
              {"torus-5x5", 580},
              {"kautz-2-4", 670},
              {"dragonfly(4,2,2,5)", 64},
              {"random-32", 390},
              {"dragonfly-10-5-5-4", 510},
              {"hyperx(4,4) hosts=64", 96},
              {"mesh-3x3x3", 760},
              {"torus-3x3x3", 430},
              {"slimfly(5) hosts=100", 130},
              {"mesh(4,4) hosts=16", 20}};
  for (const auto& row : rows) {
    const Fabric fabric = generate(row.text).value();
    for (const char* engine : {"updn", "dnup"}) {
      const Forwarding tables = route(fabric, engine).value();
      const PathReport paths = check_paths(fabric, tables);
      EXPECT_LE(paths.index.max, row.most) << row.text << " " << engine;
      EXPECT_EQ(paths.lost_pairs(), 0U) << row.text << " " << engine;
      EXPECT_TRUE(check_credit_loops(fabric, tables).none_found()) << row.text << " " << engine;
    }
  }
}

}  // namespace
}  // namespace holdfast::fabric
