#include "replicate/mpi/verify/padding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

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

constexpr std::uint64_t somewhere = 0x7ffc12345678;
constexpr std::uint64_t elsewhere = 0x55d0cafe0010;

std::vector<std::byte> packed(const std::vector<std::uint64_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> masked(const Padding& padding, std::vector<std::byte> bytes) {
  padding.mask(bytes);
  return bytes;
}

TEST(Padding, OfAnAddressOnlyThatItIsOneIsCompared) {
  const auto address = Padding::of_predefined(MPI_AINT);
  ASSERT_NE(address, nullptr);
  EXPECT_TRUE(address->has_addresses());
  EXPECT_FALSE(address->has_padding());
  const auto one = masked(*address, packed({0, somewhere, 4096}));
  EXPECT_EQ(one, masked(*address, packed({0, elsewhere, 4096})));
  for (const std::vector<std::uint64_t>& other : {std::vector<std::uint64_t>{1, somewhere, 4096},
                                                  {0, somewhere, 4097},
                                                  {0, 0, 4096},
                                                  {somewhere, somewhere, 4096},
                                                  {0, somewhere | std::uint64_t{1} << 60, 4096},
                                                  {0, 0xaaaaaaaaaaaaaaaa - 1, 4096}})
    EXPECT_NE(one, masked(*address, packed(other)));
}

TEST(Padding, DisplacementsAreNoAddresses) {
  const auto address = Padding::of_predefined(MPI_AINT);
  for (const std::uint64_t value :
       {std::uint64_t{0}, (std::uint64_t{1} << 40) - 1, std::uint64_t{1} << 48, ~std::uint64_t{7}}) {
    EXPECT_EQ(masked(*address, packed({value})), packed({value})) << value;
    EXPECT_FALSE(address->any_address(packed({value}))) << value;
  }
  EXPECT_TRUE(address->any_address(packed({0, somewhere})));
}

TEST(Padding, AddressesStayInTheMessageAsItIs) {
  std::vector<std::byte> bytes = packed({somewhere, 1});
  Padding::of_predefined(MPI_AINT)->clear(bytes);
  EXPECT_EQ(bytes, packed({somewhere, 1}));
}

TEST(Padding, ACorrectedCopyKeepsItsOwnAddresses) {
  const auto place = Padding::of_parts({{8, Padding::of_predefined(MPI_AINT)}, {8, nullptr}});
  std::vector<std::byte> copy = packed({somewhere, somewhere, 7, 8});
  EXPECT_TRUE(place->keep_addresses(copy, packed({elsewhere, 0, 0, 0})));
  EXPECT_EQ(copy, packed({elsewhere, somewhere, 7, 8}));
}

TEST(Padding, AnAddressThatIsLostIsToldOf) {
  const auto address = Padding::of_predefined(MPI_AINT);
  std::vector<std::byte> copy = packed({1, somewhere});
  EXPECT_FALSE(address->keep_addresses(copy, packed({1, 2})));
  EXPECT_FALSE(address->keep_addresses(copy, packed({1})));
  EXPECT_TRUE(address->keep_addresses(copy, packed({elsewhere, elsewhere})));
  EXPECT_EQ(copy, packed({1, elsewhere}));
}

TEST(Padding, ALastElementInPartIsNoAddress) {
  const auto address = Padding::of_predefined(MPI_AINT);
  std::vector<std::byte> bytes = packed({somewhere, somewhere});
  bytes.resize(12);
  const std::vector<std::byte> tail(bytes.begin() + 8, bytes.end());
  address->mask(bytes);
  EXPECT_TRUE(std::equal(tail.begin(), tail.end(), bytes.begin() + 8));
}

}  // namespace
}  // namespace holdfast::replicate
