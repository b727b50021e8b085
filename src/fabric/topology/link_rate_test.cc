#include "fabric/topology/link_rate.h"

#include <gtest/gtest.h>

namespace holdfast::fabric {
namespace {

TEST(LinkRate, EveryRateIsReadBack) {
  for (int lanes : {1, 2, 4, 8, 12}) {
    for (int speed = 0; speed < 9; ++speed) {
      const LinkRate rate{static_cast<std::uint8_t>(lanes), static_cast<LaneSpeed>(speed)};
      EXPECT_EQ(find_rate(format(rate)), rate) << format(rate);
    }
  }
  EXPECT_EQ(find_rate("4xqdr"), (LinkRate{4, LaneSpeed::qdr}));
}

TEST(LinkRate, NothingElseIsARate) {
  for (const char* text : {"", "4x", "QDR", "3xQDR", "4xQD", "4xQDRR", "44xQDR", "4 xQDR"})
    EXPECT_EQ(find_rate(text), std::nullopt) << text;
}

}  // namespace
}  // namespace holdfast::fabric
