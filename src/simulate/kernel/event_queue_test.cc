#include "simulate/kernel/event_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "core/random/stream.h"

namespace holdfast::simulate {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

TEST(EventQueue, GivesAnInstantAtOnceAndInOrder) {
  EventQueue queue(64, 64);
  queue.push(100, 3);
  queue.push(50, 9);
  queue.push(100, 1);
  ASSERT_TRUE(queue.next_instant());
  EXPECT_EQ(queue.now(), 50);
  EXPECT_THAT(queue.events(), ElementsAre(9U));
  ASSERT_TRUE(queue.next_instant());
  EXPECT_EQ(queue.now(), 100);
  EXPECT_THAT(queue.events(), ElementsAre(1U, 3U));
  EXPECT_FALSE(queue.next_instant());
  EXPECT_EQ(queue.now(), 100);
}

TEST(EventQueue, TakesEventsForTheInstantItIsIn) {
  EventQueue queue(64, 64);
  queue.push(70, 1);
  ASSERT_TRUE(queue.next_instant());
  queue.push(70, 2);
  queue.push(71, 3);
  ASSERT_TRUE(queue.next_instant());
  EXPECT_EQ(queue.now(), 70);
  EXPECT_THAT(queue.events(), ElementsAre(2U));
  ASSERT_TRUE(queue.next_instant());
  EXPECT_EQ(queue.now(), 71);
}

TEST(EventQueue, HoldsEventsAtTheHorizonAndFarBeyond) {
  EventQueue queue(64, 64);  // horizon 4096
  for (const Time at : {4095, 4096, 4097, 8192, 64 * 63, 64 * 64}) queue.push(at, static_cast<Event>(at));
  queue.push(5'000'000'000'000, 7);
  queue.push(Time{1} << 62, 8);
  Time last = -1;
  std::size_t taken = 0;
  while (queue.next_instant()) {
    EXPECT_GT(queue.now(), last);
    last = queue.now();
    taken += queue.events().size();
  }
  EXPECT_EQ(taken, 8U);
  EXPECT_EQ(last, Time{1} << 62);
}

/// Each way of sorting has its sizes.
TEST(EventQueue, SortsBucketsOfAllSizes) {
  for (std::uint32_t size = 1; size <= 60; ++size) {
    random::Stream draw = random::Stream(size).child("bucket");
    EventQueue queue(1024, 64);
    std::multiset<std::pair<Time, Event>> expected;
    for (std::uint32_t i = 0; i < size; ++i) {
      const auto at = static_cast<Time>(1024 + draw.below(draw.below(2) == 0 ? 4 : 1024));
      const auto event = static_cast<Event>(draw.next64());
      queue.push(at, event);
      expected.emplace(at, event);
    }
    auto next = expected.begin();
    while (queue.next_instant())
      for (const Event event : queue.events()) ASSERT_EQ(*next++, std::make_pair(queue.now(), event)) << size;
    EXPECT_EQ(next, expected.end()) << size;
  }
}

/// Against an ordered map, under every mix of near and far pushes.
TEST(EventQueue, EqualsAnOrderedMap) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    random::Stream draw = random::Stream(seed).child("event queue");
    EventQueue queue(Time{1} << draw.below(12), static_cast<std::uint32_t>(64 << draw.below(4)));
    std::map<Time, std::multiset<Event>> expected;
    std::uint64_t pushed = 0;
    auto push_some = [&] {
      for (std::uint64_t count = draw.below(6); count > 0 && pushed < 4000; --count, ++pushed) {
        const Time reach = Time{1} << draw.below(seed % 2 == 0 ? 14 : 40);
        const Time at = queue.now() + static_cast<Time>(draw.below(static_cast<std::uint64_t>(reach)));
        const Event event = static_cast<Event>(draw.next64());
        queue.push(at, event);
        expected[at].insert(event);
      }
    };
    while (expected.empty()) push_some();
    while (queue.next_instant()) {
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(queue.now(), expected.begin()->first) << "seed " << seed;
      const auto& due = expected.begin()->second;
      ASSERT_THAT(queue.events(), ElementsAreArray(due)) << "seed " << seed;
      expected.erase(expected.begin());
      push_some();
    }
    EXPECT_TRUE(expected.empty());
    EXPECT_EQ(queue.pending(), 0U);
  }
}

/// A few events far apart, then many close together, then few again: the same order as of a map all the while.
TEST(EventQueue, WidensBucketsThatAreNearlyEmptyAndNarrowsThemAgain) {
  random::Stream draw = random::Stream(3).child("density");
  EventQueue queue(64, 1024);
  std::multiset<std::pair<Time, Event>> expected;
  const auto push = [&](std::uint64_t reach) {
    const Time at = queue.now() + 1 + static_cast<Time>(draw.below(reach));
    const auto event = static_cast<Event>(draw.next64());
    queue.push(at, event);
    expected.emplace(at, event);
  };
  const auto take = [&] {
    ASSERT_TRUE(queue.next_instant());
    for (const Event event : queue.events()) {
      ASSERT_EQ(*expected.begin(), std::make_pair(queue.now(), event));
      expected.erase(expected.begin());
    }
  };
  std::vector<Time> widths;
  for (const std::size_t pending : {20, 5000, 20}) {
    for (int step = 0; step < 60'000; ++step) {
      while (expected.size() < pending) push(step % 16 == 0 ? 10'000'000 : 200'000);
      take();
    }
    widths.push_back(queue.bucket_ps());
  }
  EXPECT_GT(widths[0], 1024);
  EXPECT_LT(widths[1], widths[0]);
  EXPECT_GT(widths[2], widths[1]);
}

}  // namespace
}  // namespace holdfast::simulate
