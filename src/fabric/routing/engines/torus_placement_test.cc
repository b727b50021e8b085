#include "fabric/routing/engines/torus_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

/// A generated grid whose cables alone are known, and where its generator put the switches.
struct Hidden {
  explicit Hidden(const char* text) : fabric(generate(text).value()), truth(fabric.structure()) {
    fabric.set_structure({});
  }
  Result<Grid> place(const TorusConfig& config) const { return place_on_torus(fabric, SwitchGraph(fabric), config); }
  /// Seeded at a switch, both ways in dimensions of size 4 that are rings.
  TorusConfig config(NodeId seed) const {
    TorusConfig config;
    config.seeds.resize(1);
    config.seeds[0].at = seed;
    for (std::size_t d = 0; d < truth.extent.size(); ++d) {
      config.size[d] = truth.extent[d];
      config.looped[d] = truth.shape == Shape::torus;
      config.seeds[0].next[d] = switch_along(truth, seed, d, 1);
      if (config.looped[d] && truth.extent[d] == 4) config.seeds[0].previous[d] = switch_along(truth, seed, d, -1);
      if (config.looped[d])
        config.seeds[0].dateline[d] =
            static_cast<std::int32_t>((truth.extent[d] - truth.at(seed)[d]) % truth.extent[d]);
    }
    return config;
  }
  void expect_truth(const Grid& grid) const {
    for (NodeId node = 0; node < fabric.switch_count(); ++node) {
      for (std::uint32_t d = 0; d < truth.extent.size(); ++d)
        ASSERT_EQ(grid.at(node, d), truth.at(node)[d]) << "dimension " << d << " of " << fabric.node(node).name;
    }
  }
  Fabric fabric;
  Structure truth;
};

TEST(TorusPlacement, IsWhereTheGeneratorPutThem) {
  for (const char* text : {"torus(5,6,7) hosts=210", "torus(4,4,4) hosts=64", "torus(3,4,2) hosts=24",
                           "torus(4,4) hosts=16", "torus(2,2,2) hosts=8", "torus(3,3,3) hosts=27", "torus(7) hosts=7",
                           "mesh(4,5,3) hosts=60", "mesh(2,6) hosts=12"}) {
    SCOPED_TRACE(text);
    const Hidden hidden(text);
    const auto grid = hidden.place(hidden.config(0));
    ASSERT_TRUE(grid.ok()) << grid.status().message();
    hidden.expect_truth(grid.value());
  }
}

TEST(TorusPlacement, StartsAnywhereAndKeepsTheOrigin) {
  const Hidden torus("torus(5,4,6) hosts=120");
  const Hidden mesh("mesh(5,4) hosts=20");
  for (const NodeId seed : {7U, 63U, 119U}) {
    const auto grid = torus.place(torus.config(seed));
    ASSERT_TRUE(grid.ok()) << grid.status().message();
    torus.expect_truth(grid.value());
  }
  const auto grid = mesh.place(mesh.config(6));
  ASSERT_TRUE(grid.ok()) << grid.status().message();
  mesh.expect_truth(grid.value());
}

TEST(TorusPlacement, TellsTheDirectionThatIsGiven) {
  const Hidden torus("torus(5,5) hosts=25");
  TorusConfig config = torus.config(0);
  std::swap(config.seeds[0].next[0], config.seeds[0].next[1]);
  const auto grid = torus.place(config);
  ASSERT_TRUE(grid.ok()) << grid.status().message();
  for (NodeId node = 0; node < 25; ++node) {
    EXPECT_EQ(grid.value().at(node, 0), torus.truth.at(node)[1]);
    EXPECT_EQ(grid.value().at(node, 1), torus.truth.at(node)[0]);
  }
}

TEST(TorusPlacement, DeadCablesStillTell) {
  Hidden torus("torus(5,4,3) hosts=60");
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i)
    torus.fabric.set_link_up(static_cast<LinkId>(random() % torus.fabric.links().size()), false);
  const auto grid = torus.place(torus.config(0));
  ASSERT_TRUE(grid.ok()) << grid.status().message();
  torus.expect_truth(grid.value());
}

TEST(TorusPlacement, RefusesWhatDoesNotFit) {
  const Hidden torus("torus(5,5) hosts=25");
  const auto message = [&](const TorusConfig& config) { return torus.place(config).status().message(); };
  TorusConfig wrong_size = torus.config(0);
  wrong_size.size[0] = 6;
  EXPECT_THAT(message(wrong_size), HasSubstr("placing switches by torus-2QoS.conf"));
  TorusConfig smaller = torus.config(0);
  smaller.size[1] = 4;
  EXPECT_FALSE(torus.place(smaller).ok());
  TorusConfig twice = torus.config(0);
  twice.seeds[0].next[1] = twice.seeds[0].next[0];
  EXPECT_THAT(message(twice), HasSubstr("has two places, or shares one"));
  TorusConfig unseeded = torus.config(0);
  unseeded.seeds.assign(1, {});
  EXPECT_THAT(message(unseeded), HasSubstr("it has no seed"));
  const Hidden four("torus(4,4,4) hosts=64");
  TorusConfig one_way = four.config(0);
  one_way.seeds[0].previous = {none, none, none};
  EXPECT_THAT(four.place(one_way).status().message(), HasSubstr("finds no place: compare sizes and links"));
  EXPECT_FALSE(Hidden("tree(4,2)").place(torus.config(0)).ok());
}

TEST(TorusPlacement, ASecondSeedIsTriedWhenTheFirstHelpsNot) {
  const Hidden torus("torus(5,5) hosts=25");
  TorusConfig config = torus.config(0);
  config.seeds[0].next[1] = none;
  config.seeds[0].at = 0;
  config.seeds.push_back(torus.config(12).seeds[0]);
  EXPECT_FALSE(torus.place({config.size, config.looped, {config.seeds[0]}}).ok());
  const auto grid = torus.place(config);
  ASSERT_TRUE(grid.ok()) << grid.status().message();
  torus.expect_truth(grid.value());
}

TEST(TorusPlacement, ARingOfFourIsRoutedByIt) {
  Hidden torus("torus(4,5) hosts=20");
  EngineOptions options;
  options.grid = torus.place(torus.config(3)).value();
  Fabric whole = generate("torus(4,5) hosts=20").value();
  const auto by_file = route(torus.fabric, "torus-2qos", options);
  const auto by_generator = route(whole, "torus-2qos");
  ASSERT_TRUE(by_file.ok()) << by_file.status().message();
  for (std::uint32_t row = 0; row < by_file.value().rows(); ++row) {
    for (Lid lid = 0; lid < by_file.value().lids(); ++lid) {
      ASSERT_EQ(by_file.value().out_port(row, lid), by_generator.value().out_port(row, lid));
      ASSERT_EQ(by_file.value().service_level(row, 0, lid), by_generator.value().service_level(row, 0, lid));
    }
  }
  options.grid->place.pop_back();
  EXPECT_THAT(route(torus.fabric, "torus-2qos", options).status().message(), HasSubstr("not one of this fabric"));
}

}  // namespace
}  // namespace holdfast::fabric
