#include "fabric/check/bisection.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

Bisection of(const char* text) {
  return bound_bisection(generate(text).value());
}

TEST(Bisection, MeetsClosedFormsOfRegularNetworks) {
  // a torus of even side n is cut by 2 n^(d-1) cables, a mesh by n^(d-1) (W. Dally, B. Towles, 2004, 3.3)
  Bisection torus = of("torus(6,6) hosts=72");
  EXPECT_LE(torus.lower, 12U);
  EXPECT_EQ(torus.upper, 12U);
  EXPECT_EQ(torus.lower, 12U) << "all-to-all fills every channel of a torus alike";
  const Bisection mesh = of("mesh(4,4) links=2 hosts=64");
  EXPECT_EQ(mesh.upper, 8U);
  EXPECT_GE(mesh.lower, 7U);
  const Bisection ring = of("torus(8) hosts=8");
  EXPECT_EQ(ring.upper, 2U);
  EXPECT_EQ(ring.lower, 2U);
}

TEST(Bisection, OfAFullTreeIsHalfItsHosts) {
  const Bisection tree = of("tree(4,3)");
  EXPECT_EQ(tree.adapters, 64U);
  EXPECT_EQ(tree.upper, 32U);
  EXPECT_GE(tree.lower, 16U) << "all-to-all fills an adapter's cable with what stays in its half, too";
}

TEST(Bisection, BoundsAreInOrderOnIrregularNetworks) {
  for (const char* text :
       {"random(20,5) hosts=60 ports=12", "kautz(3,2) hosts=36", "dragonfly(4,2,2,9)", "slimfly(5)", "tsubame2-rail"}) {
    const Bisection bisection = of(text);
    EXPECT_GT(bisection.lower, 0U) << text;
    EXPECT_LE(bisection.lower, bisection.upper) << text;
    EXPECT_LE(bisection.upper, bisection.adapters / 2) << text;
  }
}

TEST(Bisection, IsExactOnSmallNetworksWithinItsBounds) {
  // all ways to halve the hosts of 8 switches with one host each
  const Fabric fabric = generate("random(8,3) hosts=8 ports=6 seed=4").value();
  std::uint64_t exact = ~0ULL;
  for (unsigned set = 0; set < 256; ++set) {
    std::uint64_t cost = 0;
    for (const Link& link : fabric.links()) {
      const NodeId a = fabric.port(link.a).node;
      const NodeId b = fabric.port(link.b).node;
      if (fabric.is_switch(a) && fabric.is_switch(b)) cost += (set >> a & 1U) != (set >> b & 1U) ? 1 : 0;
    }
    const auto left = static_cast<std::uint64_t>(__builtin_popcount(set));
    exact = std::min(exact, cost + (left > 4 ? left - 4 : 4 - left));
  }
  const Bisection bisection = bound_bisection(fabric);
  EXPECT_LE(bisection.lower, exact);
  EXPECT_GE(bisection.upper, exact);
  EXPECT_LE(bisection.upper, exact + 1);
}

TEST(Bisection, OfPiecesIsNothing) {
  Fabric fabric = generate("mesh(4) hosts=8").value();
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const NodeId a = fabric.port(fabric.link(id).a).node;
    const NodeId b = fabric.port(fabric.link(id).b).node;
    if (std::min(a, b) == 1 && std::max(a, b) == 2) fabric.set_link_up(id, false);
  }
  const Bisection bisection = bound_bisection(fabric);
  EXPECT_EQ(bisection.lower, 0U);
  EXPECT_EQ(bisection.upper, 0U);
  EXPECT_EQ(bound_bisection(Fabric()).upper, 0U);
}

}  // namespace
}  // namespace holdfast::fabric
