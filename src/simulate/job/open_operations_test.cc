#include "simulate/job/open_operations.h"

#include <gtest/gtest.h>

#include <map>

#include "core/random/stream.h"

namespace holdfast::simulate::job {
namespace {

TEST(OpenOperations, KnowsTheOpenOnesAndForgetsTheOthers) {
  OpenOperations open;
  EXPECT_EQ(open[3], OpenOperations::none);
  open[3] = 30;
  open[4] = 40;
  EXPECT_EQ(open[3], 30U);
  open.close(3);
  EXPECT_EQ(open[3], OpenOperations::none);
  EXPECT_EQ(open[4], 40U);
}

TEST(OpenOperations, KeepsOneThatStaysOpenApartFromLaterOnesOfItsPlace) {
  OpenOperations open;
  open[0] = 7;
  for (std::uint32_t later = 1; later < 1000; ++later) {
    open[later] = later;
    EXPECT_EQ(open[later], later);
    EXPECT_EQ(open[0], 7U);
    open.close(later);
    EXPECT_EQ(open[later], OpenOperations::none);
    open.close(later);
  }
  open.close(0);
  EXPECT_EQ(open[0], OpenOperations::none);
}

/// Against a map: mostly numbers in order, of which some stay open for long.
TEST(OpenOperations, EqualsAMap) {
  random::Stream draw = random::Stream(1).child("open-operations");
  OpenOperations open;
  std::map<std::uint32_t, std::uint32_t> known;
  std::uint32_t next = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (known.size() < 200 && draw.below(2) == 0) {
      const auto operation = draw.below(10) == 0 ? static_cast<std::uint32_t>(draw.below(1 << 30)) : next++;
      const auto [place, is_new] = known.try_emplace(operation, static_cast<std::uint32_t>(step));
      ASSERT_EQ(open[operation] == OpenOperations::none, is_new) << operation;
      open[operation] = place->second;
    } else if (!known.empty()) {
      auto chosen = known.lower_bound(static_cast<std::uint32_t>(draw.below(next + 1)));
      if (chosen == known.end()) chosen = known.begin();
      ASSERT_EQ(open[chosen->first], chosen->second) << chosen->first;
      open.close(chosen->first);
      known.erase(chosen);
    }
  }
  for (const auto& [operation, value] : known) EXPECT_EQ(open[operation], value);
}

}  // namespace
}  // namespace holdfast::simulate::job
