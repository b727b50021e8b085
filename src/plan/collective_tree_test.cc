#include "plan/collective_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random/stream.h"
#include "core/stats/confidence.h"

namespace holdfast::plan {
namespace {

// XGFT(3;24,12,6;1,12,6) with 256 bytes at 8 Gbit/s, 100 ns in adapters and switches.
Reduction paper(double loss) {
  return {{24, 12, 6}, 1, 256'000, 100'000, 100'000, retransmission_ps(256, 8e9, 100'000), loss};
}

TEST(CollectiveTree, EqualsTheWorkedTimesToTheRoot) {
  EXPECT_EQ(complete(paper(0), Scheme::single, 1).undisturbed_ps, 1'168'000);
  EXPECT_EQ(complete(paper(0), Scheme::temporal, 2).undisturbed_ps, 1'168'000);
  EXPECT_EQ(complete(paper(0), Scheme::spatial, 2).undisturbed_ps, 1'424'000);  // + 21.9 %, paper: 22 %
  EXPECT_EQ(retransmission_ps(256, 8e9, 100'000), 786'000);                     // 55.2 % of 1,424 ns, paper: 55 %
  EXPECT_EQ(complete(paper(0), Scheme::temporal, 2).mean_ps, 1'168'000);
  EXPECT_EQ(complete(paper(0), Scheme::temporal, 2).delayed_chance, 0);
}

TEST(CollectiveTree, SeveralPortsLoseLikeSplitOnesAndAreAsFastAsOne) {
  const Completion split = complete(paper(1e-4), Scheme::spatial, 2);
  const Completion ports = complete(paper(1e-4), Scheme::several_ports, 2);
  EXPECT_EQ(ports.undisturbed_ps, 1'168'000);
  EXPECT_EQ(ports.delayed_chance, split.delayed_chance);
  EXPECT_EQ(ports.retransmitted_chance, split.retransmitted_chance);
  EXPECT_NEAR(split.mean_ps - ports.mean_ps, 256'000, 1e-6) << "the packet that crawls over half a port";
  Reduction reduction = paper(0);
  reduction.packets = 10;
  EXPECT_EQ(complete(reduction, Scheme::several_ports, 2).undisturbed_ps, 1'168'000 + 9 * 256'000);
}

TEST(CollectiveTree, OfManyPacketsIsPipelined) {
  Reduction reduction = paper(0);
  reduction.packets = 10;
  EXPECT_EQ(complete(reduction, Scheme::single, 1).undisturbed_ps, 1'168'000 + 9 * 256'000);
  EXPECT_EQ(complete(reduction, Scheme::temporal, 4).undisturbed_ps, 1'168'000 + 9 * 4 * 256'000);
  EXPECT_EQ(complete(reduction, Scheme::spatial, 2).undisturbed_ps, 1'424'000 + 9 * 2 * 256'000);
}

TEST(CollectiveTree, OfRareErrorsIsFirstOrder) {
  const double links = 24 * 12 * 6 + 12 * 6 + 6;
  const Completion single = complete(paper(1e-12), Scheme::single, 1);
  EXPECT_NEAR(single.delayed_chance / (links * 1e-12), 1, 1e-6);
  EXPECT_NEAR((single.mean_ps - 1'168'000) / (links * 1e-12 * 786'000), 1, 0.2);  // lost in the sum's rounding
  const Completion temporal = complete(paper(1e-9), Scheme::temporal, 2);
  EXPECT_NEAR(temporal.delayed_chance / (links * 1e-9), 1, 1e-5);
  EXPECT_NEAR(temporal.retransmitted_chance / (links * 1e-18), 1, 0.01);
}

// The same tree, link by link, by chance.
class Tree {
 public:
  Tree(const Reduction& reduction, int copies, random::Stream stream)
      : reduction_(reduction), copies_(copies), stream_(stream) {}

  std::int64_t delay_at(std::size_t level) {
    if (level == 0) return 0;
    std::int64_t slowest = 0;
    for (std::uint64_t child = 0; child < reduction_.children[level - 1]; ++child) {
      slowest = std::max(slowest, delay_at(level - 1) + link());
    }
    return slowest;
  }

 private:
  std::int64_t link() {
    std::int64_t delay = 0;
    for (int copy = 0; stream_.uniform() < reduction_.packet_loss;) {
      const bool last = ++copy == copies_;
      delay += last ? reduction_.retransmission_ps : reduction_.packet_ps;
      if (last) copy = 0;
    }
    return delay;
  }

  const Reduction& reduction_;
  int copies_;
  random::Stream stream_;
};

TEST(CollectiveTree, AgreesWithATreeDrawnLinkByLink) {
  for (double loss : {0.001, 0.05, 0.3}) {
    for (int copies : {1, 2, 4}) {
      Reduction reduction = paper(loss);
      reduction.children = {6, 4, 3};
      stats::Moments simulated;
      std::uint64_t delayed = 0;
      for (std::uint64_t trial = 0; trial < 4000; ++trial) {
        Tree tree(reduction, copies, random::Stream(3).child(static_cast<std::uint64_t>(copies)).child(trial));
        const std::int64_t delay = tree.delay_at(3);
        simulated.add(1'168'000 + static_cast<double>(delay));
        delayed += delay > 0 ? 1 : 0;
      }
      const Completion model = complete(reduction, copies == 1 ? Scheme::single : Scheme::temporal, copies);
      EXPECT_TRUE(stats::mean_interval(simulated, 0.999).value().holds(model.mean_ps)) << loss << " " << copies;
      EXPECT_TRUE(stats::proportion_interval(delayed, 4000, 0.999).value().holds(model.delayed_chance)) << loss;
    }
  }
}

// Spatial: r trees of their own above the leaves, of which the fastest counts; every host reaches its leaf by one of r.
TEST(CollectiveTree, AgreesWithSpatialTreesDrawnLinkByLink) {
  Reduction reduction = paper(0.05);
  reduction.children = {6, 4, 3};
  stats::Moments simulated;
  random::Stream root(8);
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    random::Stream stream = root.child(trial);
    std::int64_t leaf = 0;
    for (int host = 0; host < 72; ++host) {
      std::int64_t delay = 0;
      while (stream.uniform() < 0.05 * 0.05) delay += reduction.retransmission_ps;
      leaf = std::max(leaf, delay);
    }
    Reduction above = reduction;
    above.children = {4, 3};
    std::int64_t fastest =
        std::min(Tree(above, 1, stream.child("a")).delay_at(2), Tree(above, 1, stream.child("b")).delay_at(2));
    simulated.add(1'424'000 + static_cast<double>(leaf + fastest));
  }
  const Completion model = complete(reduction, Scheme::spatial, 2);
  EXPECT_TRUE(stats::mean_interval(simulated, 0.999).value().holds(model.mean_ps))
      << model.mean_ps << " " << simulated.mean() << " " << simulated.standard_error();
}

}  // namespace
}  // namespace holdfast::plan
