#include "plan/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::plan {
namespace {

double read(std::string_view text, Dimension dimension) {
  const auto value = parse_quantity(text, dimension, "testing");
  EXPECT_TRUE(value.ok()) << value.status().message();
  return value.ok() ? value.value() : -1;
}

TEST(Quantity, TakesTheUnitsOfItsDimension) {
  EXPECT_DOUBLE_EQ(read("5 y", Dimension::time), 43800.0 * 3600);
  EXPECT_DOUBLE_EQ(read(" 1.5min ", Dimension::time), 90);
  EXPECT_DOUBLE_EQ(read("4.096us", Dimension::time), 4.096e-6);
  EXPECT_DOUBLE_EQ(read("16 KiB", Dimension::bytes), 16384);
  EXPECT_DOUBLE_EQ(read("8 Gbit/s", Dimension::bit_rate), 8e9);
  EXPECT_DOUBLE_EQ(read("1 GB/s", Dimension::bit_rate), 8e9);
  EXPECT_DOUBLE_EQ(read("80 %", Dimension::share), 0.8);
  EXPECT_DOUBLE_EQ(read("0.8", Dimension::share), 0.8);
  EXPECT_DOUBLE_EQ(read("8760 %/y", Dimension::rate), 0.01 / 3600);
  EXPECT_DOUBLE_EQ(read("1e9 FIT", Dimension::rate), 1.0 / 3600);
  EXPECT_DOUBLE_EQ(read("100000", Dimension::count), 1e5);
  EXPECT_DOUBLE_EQ(read("1e-12", Dimension::real), 1e-12);
}

TEST(Quantity, RefusesInOneLineThatSaysWhatToWrite) {
  const auto refused = [](std::string_view text, Dimension dimension) {
    const auto value = parse_quantity(text, dimension, "testing");
    EXPECT_FALSE(value.ok()) << text;
    EXPECT_THAT(value.status().message(), testing::Not(testing::HasSubstr("\n")));
    return value.status();
  };
  EXPECT_EQ(refused("5", Dimension::time).wrong(), "'5' has no unit");
  EXPECT_EQ(refused("5 GB", Dimension::time).wrong(), "'5 GB' has an unknown unit");
  EXPECT_THAT(refused("5", Dimension::time).remedy(), testing::HasSubstr("ns, us, ms"));
  EXPECT_EQ(refused("-5 s", Dimension::time).wrong(), "'-5 s' is negative");
  EXPECT_EQ(refused("-0", Dimension::real).wrong(), "'-0' is negative");
  EXPECT_EQ(refused("", Dimension::count).wrong(), "'' does not begin with a number");
  EXPECT_EQ(refused("inf s", Dimension::time).wrong(), "'inf s' does not begin with a number");
  EXPECT_EQ(refused("nan", Dimension::real).wrong(), "'nan' does not begin with a number");
  EXPECT_EQ(refused("120 %", Dimension::share).wrong(), "'120 %' is more than all");
  EXPECT_EQ(refused("1.5", Dimension::count).wrong(), "'1.5' is no whole number");
  EXPECT_EQ(refused("1e308 y", Dimension::time).wrong(), "'1e308 y' is too large");
  EXPECT_EQ(refused("\n\x01", Dimension::real).wrong(),
            "'"
            "?"
            "?"
            "' does not begin with a number");
  EXPECT_EQ(refused(std::string(100, 'x'), Dimension::real).wrong().size(), 94u);
}

TEST(Quantity, IsWrittenWithAFittingUnit) {
  EXPECT_EQ(format_quantity(26.28 * 60, Dimension::time), "26.3 min");
  EXPECT_EQ(format_quantity(43800.0 * 3600, Dimension::time), "5.00 y");
  EXPECT_EQ(format_quantity(0, Dimension::time), "0 s");
  EXPECT_EQ(format_quantity(876000.0 * 3600, Dimension::time), "100 y");
  EXPECT_EQ(format_quantity(0.34567, Dimension::time), "346 ms");
  EXPECT_EQ(format_quantity(0.09994, Dimension::time), "99.9 ms");
  EXPECT_EQ(format_quantity(0.09996, Dimension::time), "100 ms");
  EXPECT_EQ(format_quantity(1.5e-6, Dimension::time), "1.50 us");
  EXPECT_EQ(format_quantity(16384, Dimension::bytes), "16.0 KiB");
  EXPECT_EQ(format_quantity(37, Dimension::bytes), "37 B");
  EXPECT_EQ(format_quantity(8e9, Dimension::bit_rate), "8.00 Gbit/s");
  EXPECT_EQ(format_quantity(0.344, Dimension::share), "34.4 %");
  EXPECT_EQ(format_quantity(3e-8, Dimension::share), "3e-08");
  EXPECT_EQ(format_quantity(0.01 / (365.0 * 86400), Dimension::rate), "0.01 /y");
  EXPECT_EQ(format_quantity(1e5, Dimension::count), "100,000");
  EXPECT_EQ(format_quantity(1234567, Dimension::count), "1,234,567");
  EXPECT_EQ(format_quantity(999, Dimension::count), "999");
  EXPECT_EQ(format_quantity(1.0 / 0.0, Dimension::time), "never");
}

}  // namespace
}  // namespace holdfast::plan
