#include <gtest/gtest.h>

#include <map>

#include "fabric/compare/comparison.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

/// Our engines beside the engines of the same name of the real OpenSM, on small fabrics of every family.
namespace holdfast::fabric {
namespace {

struct Sides {
  Judged theirs;
  Judged ours;
};

std::map<std::string, Sides> both_sides(const Fabric& fabric) {
  std::map<std::string, Sides> sides;
  auto contenders = parse_contenders("all");
  EXPECT_TRUE(contenders.ok());
  auto judged = compare(fabric, contenders.value(), ContestRules(), 2, Progress());
  EXPECT_TRUE(judged.ok()) << judged.status().message();
  if (!judged.ok()) return sides;
  for (Judged& one : judged.value()) {
    const std::string name = one.contender.engine == "torus-2QoS" ? "torus-2qos" : one.contender.engine;
    (one.contender.in_opensm ? sides[name].theirs : sides[name].ours) = std::move(one);
  }
  return sides;
}

/// Engines without a promise may be free of credit loops by luck. Here OpenSM's minhop is, and ours is not.
bool is_luck(std::string_view fabric, std::string_view engine) {
  return fabric.starts_with("hyperx(3,3)") && engine == "minhop";
}

std::uint32_t lanes_needed(const Judged& judged) {
  return judged.routing.lanes_needed != 0 ? judged.routing.lanes_needed : judged.lanes;
}

class AgainstOpensm : public testing::TestWithParam<const char*> {};

TEST_P(AgainstOpensm, OursAreValidWhereTheirsAreAndAsShortAsLeanAndAsEven) {
  auto fabric = generate(GetParam());
  ASSERT_TRUE(fabric.ok()) << fabric.status().message();
  std::map<std::string, Sides> sides = both_sides(fabric.value());
  ASSERT_EQ(sides.size(), engines().size());
  for (const Engine& engine : engines()) {
    SCOPED_TRACE(engine.name);
    const auto& [theirs, ours] = sides[std::string(engine.name)];
    if (theirs.valid() && !is_luck(GetParam(), engine.name)) {
      EXPECT_TRUE(ours.valid()) << ours.routing.reason << ours.example;
    }
    if (!ours.routed()) continue;
    EXPECT_EQ(ours.lost_pairs, 0U) << ours.example;
    if (engine.deadlock_free) {
      EXPECT_EQ(ours.credit_loops, 0U) << ours.example;
    }
    if (!theirs.routed()) continue;
    if (engine.minimal) {
      EXPECT_DOUBLE_EQ(ours.mean_path, theirs.mean_path);
    }
    if (theirs.routing.lanes_needed != 0) {
      EXPECT_LE(lanes_needed(ours), theirs.routing.lanes_needed);
    }
    // What breaks its engine's promise is no yardstick: OpenSM's dnup is its minhop where every switch has adapters.
    if (theirs.valid() || !engine.deadlock_free) {
      EXPECT_LE(ours.forwarding_index, theirs.forwarding_index);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryFamily, AgainstOpensm,
                         testing::Values("mesh(4,4) hosts=32 ports=6", "torus(5,5) hosts=50 ports=6",
                                         "torus(3,3,3) links=2 hosts=54 ports=14", "tree(4,2) ports=8",
                                         "tree(3,3) ports=6", "xgft(2;4,4;1,2) ports=8", "dragonfly(4,2,2,5) ports=7",
                                         "kautz(2,3) hosts=24 ports=6", "random(16,4) hosts=32 ports=6",
                                         "hyperx(3,3) hosts=18 ports=6", "slimfly(5) hosts=100 ports=9", "mesh-5x5",
                                         "torus-5x5", "mesh-3x3x3", "torus-3x3x3", "kautz-2-4", "random-32",
                                         "16-ary-2-tree", "xgft-1-22-11", "dragonfly-10-5-5-4"));

}  // namespace
}  // namespace holdfast::fabric
