#include "fabric/topology/closed_form.h"

#include <gtest/gtest.h>

#include "fabric/topology/connectivity.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

std::uint64_t links_between_switches(const Fabric& fabric) {
  std::uint64_t count = 0;
  for (const Link& link : fabric.links())
    count += fabric.is_switch(fabric.port(link.a).node) && fabric.is_switch(fabric.port(link.b).node) ? 1 : 0;
  return count;
}

/// Every family in several sizes, odd ones included. The networks are built and measured; the formulas know nothing of
/// that.
constexpr const char* networks[] = {
    "mesh(7)",
    "mesh(2,3) links=3",
    "mesh(5,5) links=6",
    "mesh(3,3,3)",
    "mesh(2,3,4,2)",
    "torus(5)",
    "torus(2,2,2)",
    "torus(4,3) links=2",
    "torus(5,5)",
    "torus(3,4,5)",
    "torus(2,3,4)",
    "tree(2,1)",
    "tree(2,3)",
    "tree(3,3) links=2",
    "tree(5,2)",
    "tree(2,5)",
    "tree(4,3) hosts=70",
    "tree(4,3) hosts-per-switch=2",
    "xgft(2;4,3;1,2)",
    "xgft(3;4,3,2;1,2,3)",
    "xgft(1;22;11) hosts=264",
    "xgft(2;4,3;2,2) hosts-per-switch=3",
    "xgft(1;5;1)",
    "xgft(2;3,5;2,3) hosts=40 links=2",
    "dragonfly(4,2,2,9)",
    "dragonfly(3,1,1,4)",
    "dragonfly(10,5,5,4) hosts=280",
    "dragonfly(4,2,2,5) links=2",
    "dragonfly(5,3,0,1)",
    "dragonfly(2,1,1,3)",
    "kautz(2,2)",
    "kautz(2,3)",
    "kautz(2,4) links=6",
    "kautz(3,3)",
    "kautz(3,1)",
    "kautz(4,2)",
    "hyperx(6)",
    "hyperx(3,4)",
    "hyperx(2,3,4)",
    "hyperx(4,4;2,1)",
    "hyperx(3,3;1,3) links=2",
    "slimfly(3)",
    "slimfly(4)",
    "slimfly(5)",
    "slimfly(7)",
    "slimfly(8)",
    "slimfly(9)",
    "slimfly(5) links=2",
    "dragonfly-plus(4,4,4,4,17)",
    "dragonfly-plus(3,2,5,3,4) links=2",
    "dragonfly-plus(4,4,4,4,3) hosts=100",
    "dragonfly-plus(2,3,1,0,1) hosts-per-switch=7",
    "xpander(5,4)",
    "xpander(6,9) seed=3 links=2 hosts=100",
    "xpander(4,1)",
    "rails(8,4,2,4)",
    "rails(2,3,5,2) links=3",
    "rails(4,4,2,2;3,4) links=2",
    "rails(1,1,1,1;1,1)",
    "random(32,16)",
    "random(20,3) seed=7",
    "random(2,1)",
    "random(1,0)",
};

class ClosedFormNetwork : public testing::TestWithParam<const char*> {};

TEST_P(ClosedFormNetwork, IsWhatItsFormulasSay) {
  auto topology = parse_topology(GetParam());
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  auto fabric = generate(topology.value());
  ASSERT_TRUE(fabric.ok()) << fabric.status().message();
  const auto form = closed_form(topology.value());
  ASSERT_TRUE(form);
  EXPECT_EQ(fabric.value().switch_count(), form->switches);
  EXPECT_EQ(fabric.value().adapter_count(), form->hosts);
  EXPECT_EQ(links_between_switches(fabric.value()), form->links);
  EXPECT_EQ(fabric.value().links().size(), form->links + form->hosts);
  const std::uint32_t measured = diameter(fabric.value());
  EXPECT_NE(measured, none) << "not connected";
  if (form->diameter) {
    EXPECT_EQ(measured, *form->diameter);
  }
  if (form->vertex_connectivity) {
    EXPECT_EQ(vertex_connectivity(fabric.value()), *form->vertex_connectivity);
  }
  if (form->edge_connectivity) {
    EXPECT_EQ(edge_connectivity(fabric.value()), *form->edge_connectivity);
  }
}

INSTANTIATE_TEST_SUITE_P(ClosedForm, ClosedFormNetwork, testing::ValuesIn(networks));

TEST(ClosedForm, TableTwoOfThePaper) {
  auto edges = [](const char* text) { return *closed_form(parse_topology(text).value())->edge_connectivity; };
  EXPECT_EQ(edges("mesh(5,5)"), 2U);
  EXPECT_EQ(edges("torus(5,5)"), 4U);
  EXPECT_EQ(edges("torus(7,7,7) links=5"), 30U);
  EXPECT_EQ(edges("tree(16,2)"), 16U);
  EXPECT_EQ(edges("xgft(1;22;11) hosts=264"), 11U);
  EXPECT_EQ(edges("kautz(7,3)"), 14U);
  EXPECT_EQ(edges("dragonfly(4,2,2,9)"), 5U);
}

}  // namespace
}  // namespace holdfast::fabric
