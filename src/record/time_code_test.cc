#include "record/time_code.h"

#include <gtest/gtest.h>

#include "record/varint.h"

namespace holdfast::record {
namespace {

TEST(TimeCode, KeepsSmallDurationsExactlyAndLargeOnesToThreePercent) {
  for (std::int64_t ns = 0; ns < 64; ++ns)
    EXPECT_EQ(duration_of_code(TimeColumn().code(ns)), static_cast<std::uint64_t>(ns));
  for (std::int64_t ns = 64; ns < std::int64_t{1} << 60; ns += ns / 2 + 1) {
    const std::uint64_t code = TimeColumn().code(ns);
    ASSERT_LT(code, time_codes);
    const auto kept = static_cast<std::int64_t>(duration_of_code(code));
    EXPECT_LE(kept, ns);
    EXPECT_LE(ns - kept, ns / 32);
  }
}

TEST(TimeCode, SumsStayExactButForTheLastRemainder) {
  TimeColumn column;
  std::int64_t given = 0;
  std::int64_t kept = 0;
  for (std::int64_t i = 1; i < 10'000; ++i) {
    const std::int64_t ns = (i * 7919) % 100'003;
    given += ns;
    kept += static_cast<std::int64_t>(duration_of_code(column.code(ns)));
  }
  EXPECT_GE(given, kept);
  EXPECT_LT(given - kept, 100'003 / 32 + 1);
}

TEST(TimeCode, NegativeDurationsAreNone) {
  EXPECT_EQ(TimeColumn().code(-5), 0U);
}

TEST(Varint, GivesBackWhatWasPut) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) {
    std::string bytes;
    put_number(bytes, value);
    NumberReader reader(bytes);
    EXPECT_EQ(reader.number(), value);
    EXPECT_EQ(reader.number(), std::nullopt);
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN})
    EXPECT_EQ(unzigzag(zigzag(value)), value);
}

TEST(Varint, RefusesNumbersThatDoNotEndOrDoNotFit) {
  EXPECT_EQ(NumberReader(std::string(3, '\x80')).number(), std::nullopt);
  EXPECT_EQ(NumberReader(std::string(9, '\xff') + '\x02').number(), std::nullopt);
  EXPECT_EQ(NumberReader("\x05").number(4), std::nullopt);
  EXPECT_EQ(NumberReader("\x05"
                         "abc")
                .text(),
            std::nullopt);
}

}  // namespace
}  // namespace holdfast::record
