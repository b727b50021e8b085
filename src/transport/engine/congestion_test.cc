#include "transport/engine/congestion.h"

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

constexpr std::size_t fragment = 1000;

/// A rail on which everything comes one window after it was sent; `lost` says what does not.
class Rail {
 public:
  template <class Lost>
  void carry(unsigned windows, Lost lost) {
    for (unsigned i = 0; i < windows; ++i) {
      const std::uint64_t first = next;
      for (std::size_t flying = fragment; flying <= window.bytes(); flying += fragment) {
        ++next;
        window.on_sent(flying, next);
      }
      for (std::uint64_t order = first; order < next; ++order) {
        if (lost(order)) {
          window.on_loss(order, next);
        } else {
          window.on_acknowledged(order, fragment);
        }
      }
    }
  }

  CongestionWindow window{fragment, 4'000'000};
  std::uint64_t next = 1;
};

TEST(CongestionWindow, DoublesInEachWindowUntilItIsAsLargeAsItMay) {
  Rail rail;
  EXPECT_EQ(rail.window.bytes(), 32 * fragment);
  rail.carry(1, [](std::uint64_t) { return false; });
  EXPECT_EQ(rail.window.bytes(), 64 * fragment);
  rail.carry(10, [](std::uint64_t) { return false; });
  EXPECT_EQ(rail.window.bytes(), 4'000'000U);
}

TEST(CongestionWindow, DoesNotGrowWhileTheApplicationSendsLess) {
  CongestionWindow window(fragment, 4'000'000);
  for (std::uint64_t order = 1; order < 1000; ++order) {
    window.on_sent(10 * fragment, order + 1);
    window.on_acknowledged(order, fragment);
  }
  EXPECT_EQ(window.bytes(), 32 * fragment);
}

TEST(CongestionWindow, StaysWhereALinkLosesOneInTwenty) {
  Rail rail;
  rail.carry(20, [](std::uint64_t order) { return order % 20 == 0; });
  EXPECT_EQ(rail.window.bytes(), 4'000'000U);
}

TEST(CongestionWindow, ShrinksOnceAWindowWhereOneInFourIsLost) {
  Rail rail;
  rail.carry(12, [](std::uint64_t) { return false; });
  rail.carry(1, [](std::uint64_t order) { return order % 4 == 0; });
  EXPECT_NEAR(static_cast<double>(rail.window.bytes()), 2'800'000.0, 100'000.0);
  rail.carry(200, [](std::uint64_t order) { return order % 4 == 0; });
  EXPECT_LE(rail.window.bytes(), 10 * fragment);
  rail.carry(2000, [](std::uint64_t order) { return order % 20 == 0; });  // and grows again
  EXPECT_EQ(rail.window.bytes(), 4'000'000U);
}

TEST(CongestionWindow, FindsTheRoomOfAQueueThatDropsWhatIsTooMuch) {
  Rail rail;
  std::uint64_t first = 0;
  std::uint64_t last_next = 0;
  rail.carry(200, [&](std::uint64_t order) {
    if (rail.next != last_next) first = order;
    last_next = rail.next;
    return order - first >= 500;  // 500 fragments of each window have room
  });
  EXPECT_GT(rail.window.bytes(), 380 * fragment);
  EXPECT_LT(rail.window.bytes(), 600 * fragment);
}

TEST(CongestionWindow, StartsAnewWhenTheRailWasOut) {
  Rail rail;
  rail.carry(12, [](std::uint64_t) { return false; });
  rail.window.restart(rail.next);
  EXPECT_EQ(rail.window.bytes(), 32 * fragment);
}

}  // namespace
}  // namespace holdfast::transport
