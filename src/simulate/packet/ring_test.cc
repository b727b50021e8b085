#include "simulate/packet/ring.h"

#include <gtest/gtest.h>

#include <deque>

#include "core/random/stream.h"

namespace holdfast::simulate {
namespace {

/// Several rings of one pool against queues of the standard library, with growth and the counter's wrap-around.
TEST(Ring, IsAQueueBesideOthers) {
  RingPool<std::uint32_t> pool;
  std::vector<Ring> rings{pool.make(1), pool.make(4), pool.make(5)};
  std::vector<std::deque<std::uint32_t>> expected(rings.size());
  random::Stream draw(1);
  for (std::uint32_t step = 0; step < 400'000; ++step) {
    const std::size_t which = draw.below(rings.size());
    const bool filling = step / 1000 % 2 == 0;
    if (expected[which].empty() || draw.chance(filling ? 60 : 40, 100)) {
      pool.push(rings[which], step);
      expected[which].push_back(step);
    } else {
      pool.pop(rings[which]);
      expected[which].pop_front();
    }
    ASSERT_EQ(rings[which].count, expected[which].size());
    if (expected[which].empty()) continue;
    ASSERT_EQ(pool.at(rings[which], 0), expected[which].front());
    ASSERT_EQ(pool.at(rings[which], rings[which].count - 1U), expected[which].back());
  }
}

// 16 bits count the places of a ring.
TEST(Ring, RefusesWhatItsCountersCannotHold) {
  RingPool<std::uint8_t> pool;
  EXPECT_NO_THROW(pool.make(65'536));
  EXPECT_THROW(pool.make(65'537), std::length_error);
}

}  // namespace
}  // namespace holdfast::simulate
