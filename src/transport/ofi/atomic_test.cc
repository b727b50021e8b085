#include "transport/ofi/atomic.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace holdfast::transport::ofi {
namespace {

template <class T>
T after(fi_op operation, fi_datatype type, T old, T operand, T compare = {}) {
  std::array<std::byte, 2 * sizeof(T)> operands;
  std::memcpy(operands.data(), &operand, sizeof operand);
  std::memcpy(operands.data() + sizeof(T), &compare, sizeof compare);
  const std::size_t used = operation >= FI_CSWAP ? operands.size() : operation == FI_ATOMIC_READ ? 0 : sizeof(T);
  T value = old;
  T before{};
  EXPECT_TRUE(apply_atomic_code(atomic_code(operation, type), reinterpret_cast<std::byte*>(&value), sizeof value,
                                std::span(operands).first(used), reinterpret_cast<std::byte*>(&before)));
  EXPECT_EQ(before, old);
  return value;
}

TEST(Atomic, EachOperationIsWhatTheManualSays) {
  EXPECT_EQ(after<std::int32_t>(FI_MIN, FI_INT32, -3, 5), -3);
  EXPECT_EQ(after<std::int32_t>(FI_MAX, FI_INT32, -3, 5), 5);
  EXPECT_EQ(after<std::uint32_t>(FI_MIN, FI_UINT32, 0xFFFFFFFD, 5), 5U);
  EXPECT_EQ(after<std::int64_t>(FI_SUM, FI_INT64, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(after<double>(FI_SUM, FI_DOUBLE, 0.5, 0.25), 0.75);
  EXPECT_EQ(after<std::int8_t>(FI_PROD, FI_INT8, -7, 3), -21);
  EXPECT_EQ(after<float>(FI_PROD, FI_FLOAT, 1.5F, 2.0F), 3.0F);
  EXPECT_EQ(after<std::uint16_t>(FI_LOR, FI_UINT16, 0, 9), 1);
  EXPECT_EQ(after<std::uint16_t>(FI_LAND, FI_UINT16, 0, 9), 0);
  EXPECT_EQ(after<std::uint16_t>(FI_LXOR, FI_UINT16, 4, 9), 0);
  EXPECT_EQ(after<std::uint8_t>(FI_BOR, FI_UINT8, 0x0F, 0x30), 0x3F);
  EXPECT_EQ(after<std::uint8_t>(FI_BAND, FI_UINT8, 0x0F, 0x3C), 0x0C);
  EXPECT_EQ(after<std::uint8_t>(FI_BXOR, FI_UINT8, 0x0F, 0x3C), 0x33);
  EXPECT_EQ(after<std::uint64_t>(FI_ATOMIC_READ, FI_UINT64, 77, 0), 77U);
  EXPECT_EQ(after<std::uint64_t>(FI_ATOMIC_WRITE, FI_UINT64, 77, 5), 5U);
  EXPECT_EQ(after<std::uint64_t>(FI_CSWAP, FI_UINT64, 77, 5, 77), 5U);
  EXPECT_EQ(after<std::uint64_t>(FI_CSWAP, FI_UINT64, 77, 5, 76), 77U);
  EXPECT_EQ(after<std::uint64_t>(FI_CSWAP_NE, FI_UINT64, 77, 5, 76), 5U);
  EXPECT_EQ(after<std::int32_t>(FI_CSWAP_LE, FI_INT32, 77, 5, 77), 5);
  EXPECT_EQ(after<std::int32_t>(FI_CSWAP_LT, FI_INT32, 77, 5, 77), 77);
  EXPECT_EQ(after<std::int32_t>(FI_CSWAP_GE, FI_INT32, 77, 5, 76), 77);
  EXPECT_EQ(after<std::int32_t>(FI_CSWAP_GT, FI_INT32, 77, 5, 78), 5);
  EXPECT_EQ(after<std::uint8_t>(FI_MSWAP, FI_UINT8, 0xF0, 0x5A, 0x0F), 0xFA);
}

TEST(Atomic, WorksOnEveryElement) {
  std::array<std::int32_t, 3> target = {1, 2, 3};
  const std::array<std::int32_t, 3> add = {10, 20, 30};
  EXPECT_TRUE(apply_atomic_code(atomic_code(FI_SUM, FI_INT32), reinterpret_cast<std::byte*>(target.data()),
                                sizeof target, std::as_bytes(std::span(add)), nullptr));
  EXPECT_EQ(target, (std::array<std::int32_t, 3>{11, 22, 33}));
}

TEST(Atomic, RefusesWhatIsNotOfferedOrDoesNotFit) {
  EXPECT_FALSE(atomic_offered(FI_BOR, FI_DOUBLE, AtomicUse::write));
  EXPECT_FALSE(atomic_offered(FI_SUM, FI_LONG_DOUBLE, AtomicUse::write));
  EXPECT_FALSE(atomic_offered(FI_ATOMIC_READ, FI_INT32, AtomicUse::write));
  EXPECT_FALSE(atomic_offered(FI_CSWAP, FI_INT32, AtomicUse::fetch));
  EXPECT_FALSE(atomic_offered(FI_SUM, FI_INT32, AtomicUse::compare));
  EXPECT_TRUE(atomic_offered(FI_SUM, FI_INT32, AtomicUse::fetch));
  std::array<std::byte, 64> target{};
  const std::array<std::byte, 64> operands{};
  const auto apply = [&](std::uint64_t code, std::size_t bytes, std::size_t given) {
    return apply_atomic_code(code, target.data(), bytes, std::span(operands).first(given), nullptr);
  };
  EXPECT_FALSE(apply(atomic_code(FI_SUM, FI_INT64), 12, 12));
  EXPECT_FALSE(apply(atomic_code(FI_SUM, FI_INT64), 8, 16));
  EXPECT_FALSE(apply(atomic_code(FI_CSWAP, FI_INT64), 8, 8));
  EXPECT_FALSE(apply(atomic_code(FI_SUM, FI_INT64), 0, 0));
  EXPECT_FALSE(apply(~std::uint64_t{0}, 8, 8));
  for (std::uint64_t code = 0; code < 8192; ++code) apply(code, 16, 16);  // none of them does harm
}

}  // namespace
}  // namespace holdfast::transport::ofi
