#include "simulate/packet/circle.h"

#include <gtest/gtest.h>

namespace holdfast::simulate {
namespace {

constexpr std::uint32_t nobody = 0xffffffff;

TEST(Circle, WaitingThatEndsIsNone) {
  EXPECT_TRUE(find_circle({}).empty());
  EXPECT_TRUE(find_circle({nobody, nobody}).empty());
  EXPECT_TRUE(find_circle({1, 2, 3, nobody, 3}).empty());  // a tree: several wait for one
}

TEST(Circle, IsFoundBehindATailThatIsNotPartOfIt) {
  EXPECT_EQ(find_circle({1, 2, 3, 4, 2}), (std::vector<std::uint32_t>{2, 3, 4}));
  EXPECT_EQ(find_circle({nobody, 0, 4, 1, 2}), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(find_circle({0}), (std::vector<std::uint32_t>{0}));
}

}  // namespace
}  // namespace holdfast::simulate
