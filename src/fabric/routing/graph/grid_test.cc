#include "fabric/routing/graph/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

std::optional<Grid> found_in_cables(const char* text) {
  Fabric fabric = generate(text).value();
  fabric.set_structure({});
  return find_grid(fabric, SwitchGraph(fabric));
}

TEST(Grid, IsFoundInTheCablesAlone) {
  const auto torus = found_in_cables("torus(5,3,6) hosts=90");
  ASSERT_TRUE(torus);
  std::vector<std::uint32_t> size = torus->size;
  std::sort(size.begin(), size.end());
  EXPECT_EQ(size, (std::vector<std::uint32_t>{3, 5, 6}));
  EXPECT_EQ(torus->wraps, (std::vector<std::uint8_t>{1, 1, 1}));
  const auto mesh = found_in_cables("mesh(4,5) links=2 hosts=20");
  ASSERT_TRUE(mesh);
  EXPECT_EQ(mesh->wraps, (std::vector<std::uint8_t>{0, 0}));
  const auto ring = found_in_cables("torus(7) hosts=7");
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->size, (std::vector<std::uint32_t>{7}));
}

TEST(Grid, ARingOfFourIsTwoDimensionsOfTwo) {
  const auto grid = found_in_cables("torus(4,3) hosts=12");
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->dimensions(), 3U);
  EXPECT_EQ(std::count(grid->wraps.begin(), grid->wraps.end(), 1), 1) << "only the ring of three wraps";
}

TEST(Grid, OtherNetworksAreNone) {
  for (const char* text : {"tree(3,2)", "kautz(2,3) hosts=12", "dragonfly(4,2,2,5)", "random(16,3) hosts=16 ports=8",
                           "slimfly(5)", "hyperx(4,4) hosts=16"}) {
    EXPECT_FALSE(found_in_cables(text)) << text;
  }
  EXPECT_FALSE(find_grid(Fabric(), SwitchGraph(Fabric())));
}

/// The fabric without the n-th cable between switches, which a discovery does not list when it is pulled out.
Fabric without_cable(const Fabric& whole, LinkId left_out) {
  Fabric fabric;
  for (const Node& node : whole.nodes()) fabric.add_node(node.kind, node.port_count, node.name, node.guid);
  for (LinkId link = 0; link < whole.links().size(); ++link)
    if (link != left_out) fabric.add_link(whole.link(link).a, whole.link(link).b);
  fabric.assign_lids();
  return fabric;
}

TEST(Grid, IsFoundWithoutOneCable) {
  for (const char* text : {"torus(5,5) hosts=25", "torus(4,5,3) hosts=60", "torus(3,3,3) hosts=27",
                           "mesh(4,4) hosts=16", "mesh(5,5) hosts=25", "mesh(4,7) hosts=28", "mesh(3,3,3) hosts=27"}) {
    const Fabric whole = generate(text).value();
    const auto size = found_in_cables(text)->size;
    for (LinkId link = 0; link < whole.links().size(); link += 7) {
      if (!whole.is_switch(whole.port(whole.link(link).a).node) ||
          !whole.is_switch(whole.port(whole.link(link).b).node))
        continue;
      const Fabric fabric = without_cable(whole, link);
      const auto grid = find_grid(fabric, SwitchGraph(fabric));
      ASSERT_TRUE(grid) << text << " without " << link;
      EXPECT_EQ(std::multiset<std::uint32_t>(grid->size.begin(), grid->size.end()),
                std::multiset<std::uint32_t>(size.begin(), size.end()));
    }
  }
}

TEST(Grid, AMeshIsFoundWithoutTwoCables) {
  const Fabric whole = generate("mesh(4,4) hosts=16").value();
  std::vector<LinkId> between;
  for (LinkId link = 0; link < whole.links().size(); ++link)
    if (whole.is_switch(whole.port(whole.link(link).a).node) && whole.is_switch(whole.port(whole.link(link).b).node))
      between.push_back(link);
  unsigned found = 0;
  unsigned tried = 0;
  for (std::size_t i = 0; i < between.size(); i += 5) {
    for (std::size_t j = i + 1; j < between.size(); j += 3) {
      const Fabric fabric = without_cable(without_cable(whole, between[j]), between[i]);
      const SwitchGraph graph(fabric);
      const auto grid = find_grid(fabric, graph);
      ++tried;
      if (!grid) continue;  // a corner that lost both is no part of a grid
      ++found;
      // without two certain cables it is a whole mesh of 2 by 8, too
      EXPECT_TRUE(grid->size == (std::vector<std::uint32_t>{4, 4}) || grid->size == (std::vector<std::uint32_t>{2, 8}));
      EXPECT_TRUE(lies_on_grid(graph, *grid));
    }
  }
  EXPECT_GE(10 * found, 8 * tried) << found << " of " << tried;
}

TEST(Grid, AWrongCableMakesNoMesh) {
  Fabric star;
  for (int i = 0; i < 5; ++i) star.add_node(NodeKind::switch_, 8, "s" + std::to_string(i));
  for (std::uint8_t i = 1; i < 5; ++i) star.add_link(star.port_of(0, i), star.port_of(i, 1));
  star.assign_lids();
  EXPECT_FALSE(find_grid(star, SwitchGraph(star)));
}

TEST(Grid, StaysKnownWhileCablesAreDead) {
  Fabric fabric = generate("torus(5,5) hosts=25").value();
  fabric.set_structure({});
  for (LinkId link = 0; link < 50; link += 3) fabric.set_link_up(link, false);
  const auto grid = find_grid(fabric, SwitchGraph(fabric));
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->size, (std::vector<std::uint32_t>{5, 5}));
}

}  // namespace
}  // namespace holdfast::fabric
