#include "simulate/job/stable_pool.h"

#include <gtest/gtest.h>

namespace holdfast::simulate::job {
namespace {

TEST(StablePool, KeepsReferencesWhileItGrows) {
  StablePool<int> pool;
  ASSERT_EQ(pool.add(), 0U);
  int& first = pool[0];
  first = 17;
  for (std::uint32_t number = 1; number < 1000; ++number) {
    ASSERT_EQ(pool.add(), number);
    EXPECT_EQ(pool[number], 0);
    pool[number] = static_cast<int>(number);
  }
  EXPECT_EQ(&pool[0], &first);
  EXPECT_EQ(first, 17);
  EXPECT_EQ(pool[64], 64);
  EXPECT_EQ(pool[999], 999);
  EXPECT_EQ(pool.size(), 1000U);
}

}  // namespace
}  // namespace holdfast::simulate::job
