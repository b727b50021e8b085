#include "fabric/topology/levels.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(Levels, AreThoseTheGeneratorKnows) {
  for (const char* text :
       {"tree(3,3)", "xgft(3;4,3,2;1,2,3)", "xgft(1;22;11) hosts=264", "tsubame2", "10-ary-3-tree"}) {
    const Fabric fabric = generate(text).value();
    const auto levels = tree_levels(fabric);
    ASSERT_TRUE(levels) << text;
    std::size_t roots = 0;
    for (NodeId id = 0; id < fabric.switch_count(); ++id) {
      EXPECT_EQ((*levels)[id], fabric.structure().at(id)[0]) << text << " " << fabric.node(id).name;
      roots += fabric.structure().at(id)[0] + 1 == fabric.structure().extent[0] ? 1 : 0;
    }
    EXPECT_EQ(tree_roots(fabric).size(), roots) << text;
  }
}

TEST(Levels, OtherNetworksHaveNone) {
  for (const char* text : {"torus(3,3)", "deimos", "dragonfly(4,2,2,9)", "tree(3,1)", "tree(2,2) hosts=0"}) {
    EXPECT_FALSE(tree_levels(generate(text).value())) << text;
    EXPECT_TRUE(tree_roots(generate(text).value()).empty()) << text;
  }
}

}  // namespace
}  // namespace holdfast::fabric
