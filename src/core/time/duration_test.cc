#include "core/time/duration.h"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::time {
namespace {

std::int64_t parsed(std::string_view text) {
  const Result<std::int64_t> result = parse_duration(text);
  EXPECT_TRUE(result) << result.status().message();
  return result ? result.value() : -1;
}

std::string wrong(std::string_view text) {
  const Result<std::int64_t> result = parse_duration(text);
  EXPECT_FALSE(result) << text << " was read as " << (result ? result.value() : 0);
  EXPECT_EQ(result.status().code(), Code::bad_input);
  return result.status().wrong();
}

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(parsed("7ns"), 7);
  EXPECT_EQ(parsed("7us"), 7'000);
  EXPECT_EQ(parsed("10ms"), 10'000'000);
  EXPECT_EQ(parsed("3 s"), 3'000'000'000);
  EXPECT_EQ(parsed(" 2min\t"), 120'000'000'000);
  EXPECT_EQ(parsed("2h"), 7'200'000'000'000);
  EXPECT_EQ(parsed("1d"), 86'400'000'000'000);
}

TEST(Duration, ReadsFractionsExactly) {
  EXPECT_EQ(parsed("4.096us"), 4096);
  EXPECT_EQ(parsed("0.000000001s"), 1);
  EXPECT_EQ(parsed(".5us"), 500);
  EXPECT_EQ(parsed("5.us"), 5000);
  EXPECT_EQ(parsed("1.50000000000000000000000000000000000000000s"), 1'500'000'000);
  EXPECT_EQ(parsed("9223372036.854775807s"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parsed("0.000s"), 0);
}

TEST(Duration, RefusesWhatItCannotHoldExactly) {
  EXPECT_EQ(wrong("0.5ns"), "it is not a whole number of nanoseconds");
  EXPECT_EQ(wrong("0.0000000001s"), "it is not a whole number of nanoseconds");
  EXPECT_EQ(wrong("9223372036.854775808s"), "it has too many digits");
  EXPECT_EQ(wrong("106752d"), "it is longer than 292 years");
  EXPECT_EQ(wrong("99999999999999999999999999999999999999999999s"), "it has too many digits");
}

TEST(Duration, RefusesMalformedText) {
  EXPECT_EQ(wrong(""), "it does not start with a number");
  EXPECT_EQ(wrong("."), "it does not start with a number");
  EXPECT_EQ(wrong(".s"), "it does not start with a number");
  EXPECT_EQ(wrong("-3s"), "it does not start with a number");
  EXPECT_EQ(wrong("0"), "it has no unit");
  EXPECT_EQ(wrong("10"), "it has no unit");
  EXPECT_EQ(wrong("10 parsec"), "'parsec' is no unit of time");
  EXPECT_EQ(wrong("1.2.3s"), "'.3s' is no unit of time");
  EXPECT_EQ(wrong("10msx"), "'msx' is no unit of time");
}

TEST(Duration, FormatsShortAndExact) {
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(1), "1ns");
  EXPECT_EQ(format_duration(4096), "4.096us");
  EXPECT_EQ(format_duration(10'000'000), "10ms");
  EXPECT_EQ(format_duration(1'500'000'001), "1.500000001s");
  EXPECT_EQ(format_duration(90'000'000'000), "90s");
  EXPECT_EQ(format_duration(-2'050), "-2.05us");
  EXPECT_EQ(format_duration(std::numeric_limits<std::int64_t>::min()), "-9223372036.854775808s");
}

TEST(Duration, FormatIsReadBack) {
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto amount = static_cast<std::int64_t>((state >> 1) >> (i % 63));
    EXPECT_EQ(parsed(format_duration(amount)), amount);
  }
}

}  // namespace
}  // namespace holdfast::time
