#include "core/event/counters.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace holdfast::event {
namespace {

enum class Count { messages, bytes, count };

static_assert(std::is_trivially_copyable_v<Counters<Count>>);
static_assert(sizeof(Counters<Count>) == 2 * sizeof(std::uint64_t), "a reduction takes the block as it is");

TEST(Counters, CountAndSum) {
  Counters<Count> here;
  ++here[Count::messages];
  here[Count::bytes] += 100;
  Counters<Count> there = here;
  there[Count::bytes] = 11;
  here += there;
  EXPECT_EQ(here[Count::messages], 2U);
  EXPECT_EQ(here[Count::bytes], 111U);
  EXPECT_EQ(here.values()[1], 111U);
  EXPECT_EQ(here.values().size(), 2U);
}

}  // namespace
}  // namespace holdfast::event
