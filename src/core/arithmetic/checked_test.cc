#include "core/arithmetic/checked.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace holdfast::arithmetic {
namespace {

constexpr std::uint64_t largest_unsigned = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

// Every pair of bytes, with and without a sign, against the same operation in a wider type.
template <class Narrow, class Checked, class Wide>
void compare_all_bytes(Checked checked, Wide wide) {
  constexpr int first = std::numeric_limits<Narrow>::min();
  constexpr int last = std::numeric_limits<Narrow>::max();
  for (int left = first; left <= last; ++left) {
    for (int right = first; right <= last; ++right) {
      const std::optional<int> exact = wide(left, right);
      const std::optional<Narrow> got = checked(static_cast<Narrow>(left), static_cast<Narrow>(right));
      const bool fits = exact && *exact >= first && *exact <= last;
      ASSERT_EQ(got.has_value(), fits) << left << " and " << right;
      if (fits) {
        ASSERT_EQ(static_cast<int>(*got), *exact) << left << " and " << right;
      }
    }
  }
}

template <class Narrow>
void compare_all_operations() {
  using Answer = std::optional<int>;
  compare_all_bytes<Narrow>([](Narrow a, Narrow b) { return checked_add(a, b); },
                            [](int a, int b) { return Answer(a + b); });
  compare_all_bytes<Narrow>([](Narrow a, Narrow b) { return checked_subtract(a, b); },
                            [](int a, int b) { return Answer(a - b); });
  compare_all_bytes<Narrow>([](Narrow a, Narrow b) { return checked_multiply(a, b); },
                            [](int a, int b) { return Answer(a * b); });
  compare_all_bytes<Narrow>([](Narrow a, Narrow b) { return checked_divide(a, b); },
                            [](int a, int b) { return b == 0 ? Answer() : Answer(a / b); });
  compare_all_bytes<Narrow>([](Narrow a, Narrow b) { return checked_round_up(a, b); },
                            [](int a, int b) { return a < 0 || b <= 0 ? Answer() : Answer((a + b - 1) / b * b); });
}

TEST(Checked, EveryPairOfBytesIsExactOrNothing) {
  compare_all_operations<std::uint8_t>();
  compare_all_operations<std::int8_t>();
}

TEST(Checked, SixtyFourBitsAtTheirBounds) {
  EXPECT_EQ(checked_add(largest_unsigned, std::uint64_t{0}), largest_unsigned);
  EXPECT_FALSE(checked_add(largest_unsigned, std::uint64_t{1}));
  EXPECT_FALSE(checked_add(smallest, std::int64_t{-1}));
  EXPECT_FALSE(checked_subtract(std::uint64_t{0}, std::uint64_t{1}));
  EXPECT_FALSE(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32));
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 31), std::uint64_t{1} << 63);
  EXPECT_FALSE(checked_divide(smallest, std::int64_t{-1}));
  EXPECT_FALSE(checked_round_up(largest, std::int64_t{4096}));
}

TEST(Checked, ARangeIsJudgedWithoutASumThatWraps) {
  EXPECT_TRUE(range_fits<std::uint64_t>(0, 0, 0));
  EXPECT_TRUE(range_fits<std::uint64_t>(10, 6, 16));
  EXPECT_FALSE(range_fits<std::uint64_t>(10, 7, 16));
  EXPECT_FALSE(range_fits<std::uint64_t>(17, 0, 16));
  EXPECT_FALSE(range_fits<std::uint64_t>(largest_unsigned - 1, 2, 16));
  EXPECT_FALSE(range_fits<std::uint64_t>(16, largest_unsigned, 64));
  EXPECT_FALSE(range_fits<std::int64_t>(-1, 1, 16));
  EXPECT_FALSE(range_fits<std::int64_t>(1, -1, 16));
}

TEST(Checked, NarrowingKeepsTheNumberOrGivesNothing) {
  EXPECT_EQ(checked_narrow<std::uint8_t>(255), std::uint8_t{255});
  EXPECT_FALSE(checked_narrow<std::uint8_t>(256));
  EXPECT_FALSE(checked_narrow<std::uint32_t>(-1));
  EXPECT_FALSE(checked_narrow<std::int64_t>(std::uint64_t{1} << 63));
  EXPECT_EQ(checked_narrow<std::int8_t>(std::int64_t{-128}), std::int8_t{-128});
}

TEST(Checked, FloatingPointBecomesAnIntegerWithinTheTypeOnly) {
  EXPECT_EQ(checked_truncate<std::int64_t>(4.9), 4);
  EXPECT_EQ(checked_truncate<std::int64_t>(-4.9), -4);
  EXPECT_EQ(checked_truncate<std::int64_t>(-0x1p63), smallest);
  EXPECT_FALSE(checked_truncate<std::int64_t>(0x1p63));
  EXPECT_FALSE(checked_truncate<std::int64_t>(std::nextafter(-0x1p63, -0x1p64)));
  EXPECT_TRUE(checked_truncate<std::int64_t>(std::nextafter(0x1p63, 0.0)));
  EXPECT_FALSE(checked_truncate<std::uint64_t>(0x1p64));
  EXPECT_EQ(checked_truncate<std::uint64_t>(-0.9), std::uint64_t{0});
  EXPECT_FALSE(checked_truncate<std::uint64_t>(-1.0));
  EXPECT_EQ(checked_truncate<std::int8_t>(-128.9), std::int8_t{-128});
  EXPECT_FALSE(checked_truncate<std::int8_t>(-129.0));
  EXPECT_FALSE(checked_truncate<std::int64_t>(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(checked_truncate<std::int64_t>(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(checked_truncate<std::int64_t>(-std::numeric_limits<double>::infinity()));
}

TEST(Checked, RoundingIsThatOfLlround) {
  for (const double value : {0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 4503599627370496.5, 0x1p62}) {
    EXPECT_EQ(checked_round<std::int64_t>(value), std::llround(value)) << value;
  }
  EXPECT_FALSE(checked_round<std::uint8_t>(255.5));
  EXPECT_EQ(checked_round<std::uint8_t>(255.4), std::uint8_t{255});
  EXPECT_FALSE(checked_round<std::uint8_t>(-0.5));
  EXPECT_FALSE(checked_round<std::int64_t>(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Checked, AMomentTooFarOffNeverComes) {
  EXPECT_EQ(add_or_never<std::int64_t>(5, 2.9), 7);
  EXPECT_EQ(add_or_never<std::int64_t>(5, 1e30), largest);
  EXPECT_EQ(add_or_never<std::int64_t>(largest - 1, 0x1p62), largest);
  EXPECT_EQ(add_or_never<std::int64_t>(5, std::numeric_limits<double>::infinity()), largest);
  EXPECT_EQ(add_or_never<std::int64_t>(5, std::numeric_limits<double>::quiet_NaN()), largest);
  EXPECT_EQ(add_or_never<std::int64_t>(5, -1.0), largest);
}

// What a test at run time could not show: the functions are constant expressions and never throw.
static_assert(*checked_add(2, 3) == 5 && !checked_add(std::numeric_limits<int>::max(), 1));
static_assert(noexcept(checked_multiply(1, 1)) && noexcept(checked_round<int>(1.0)));

}  // namespace
}  // namespace holdfast::arithmetic
