#include "core/status/hint.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace holdfast {
namespace {

constexpr std::array<std::string_view, 3> options = {"replicate.protocol", "replicate.ack_delay", "replicate.degree"};

TEST(Hint, FindsASingleSlip) {
  EXPECT_EQ(nearest_name("replicate.protcol", options), "replicate.protocol");
  EXPECT_EQ(nearest_name("replicate.ack-dealy", options), "replicate.ack_delay");
  EXPECT_EQ(nearest_name("REPLICATE_DEGREES", options), "replicate.degree");
}

TEST(Hint, CountsASwapOfNeighboursAsOneSlip) {
  constexpr std::array<std::string_view, 2> words = {"xbcd", "bacd"};
  EXPECT_EQ(nearest_name("abcd", words), "xbcd");  // both at distance 1: the first wins
  constexpr std::array<std::string_view, 1> swapped = {"ba"};
  EXPECT_EQ(nearest_name("ab", swapped), "ba");
}

TEST(Hint, StaysSilentWhenNothingIsNear) {
  constexpr std::array<std::string_view, 2> words = {"flip", "drop"};
  EXPECT_EQ(nearest_name("corrupt-header", words), "");
  EXPECT_EQ(nearest_name("", words), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'f'), words), "");
  EXPECT_EQ(nearest_name("flip", {}), "");
}

TEST(Hint, MakesASentence) {
  EXPECT_EQ(did_you_mean("replicate.protcol", options, "none"), "did you mean 'replicate.protocol'?");
  EXPECT_EQ(did_you_mean("zzz", options, "see the list"), "see the list");
}

}  // namespace
}  // namespace holdfast
