#include "replicate/mpi/padding.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace holdfast::replicate {
namespace {

constexpr bool padded_here = std::numeric_limits<long double>::digits == 64;

/// 'v' for each byte that is kept, '.' for each that is cleared.
std::string kept(const Padding& padding, std::size_t bytes) {
  std::vector<std::byte> packed(bytes, std::byte{1});
  padding.clear(packed);
  std::string text;
  for (const std::byte byte : packed) text += byte == std::byte{0} ? '.' : 'v';
  return text;
}

TEST(Padding, OnlyLongDoublesHaveIt) {
  for (const MPI_Datatype type : {MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_C_DOUBLE_COMPLEX})
    EXPECT_EQ(Padding::of_predefined(type), nullptr);
  for (const MPI_Datatype type : {MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX, MPI_LONG_DOUBLE_INT})
    EXPECT_EQ(Padding::of_predefined(type) != nullptr, padded_here);
}

TEST(Padding, ClearsTheLastSixBytesOfEachValue) {
  if (!padded_here) GTEST_SKIP() << "long doubles have no padding here";
  EXPECT_EQ(kept(*Padding::of_predefined(MPI_LONG_DOUBLE), 40), "vvvvvvvvvv......vvvvvvvvvv......vvvvvvvv");
  EXPECT_EQ(kept(*Padding::of_predefined(MPI_LONG_DOUBLE), 12), "vvvvvvvvvv..");
  EXPECT_EQ(kept(*Padding::of_predefined(MPI_LONG_DOUBLE_INT), 34),
            "vvvvvvvvvv......vvvv"
            "vvvvvvvvvv....");
}

TEST(Padding, FollowsTheMembersOfAStruct) {
  if (!padded_here) GTEST_SKIP() << "long doubles have no padding here";
  const auto value = Padding::of_predefined(MPI_LONG_DOUBLE);
  const auto inner = Padding::of_parts({{2, nullptr}, {1, nullptr}, {16, value}});
  EXPECT_EQ(kept(*inner, 19),
            "vvv"
            "vvvvvvvvvv......");
  const auto outer = Padding::of_parts({{38, inner}, {0, value}, {1, nullptr}});
  EXPECT_EQ(kept(*outer, 42),
            "vvv"
            "vvvvvvvvvv......"
            "vvv"
            "vvvvvvvvvv......"
            "v"
            "vvv");
  EXPECT_EQ(Padding::of_parts({{8, nullptr}, {4, nullptr}}), nullptr);
  EXPECT_EQ(Padding::of_parts({{16, value}, {32, value}}), value);
}

}  // namespace
}  // namespace holdfast::replicate
