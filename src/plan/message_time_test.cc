// NewMadeleine's model against the numbers that the paper works out with it, and against its own limits.
#include "plan/message_time.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/machine.h"
#include "plan/recommend.h"

namespace holdfast::plan {
namespace {

constexpr double byte_rate = 8;  // bit/s of 1 B/s

// The paper's jack cluster, section 5.2: 1.4 us, 3, 4.5 and 24.1 GB/s.
constexpr MessagePath jack = {1.4e-6, 3e9 * byte_rate, 4.5e9 * byte_rate, 24.1e9 * byte_rate};

TEST(MessageTime, GivesThePapersOverheads) {
  EXPECT_NEAR(checking_share(jack, 4000), 0.07, 0.005);
  EXPECT_NEAR(checking_share(jack, 32000), 0.10, 0.005);
}

TEST(MessageTime, IsTheSumOfItsParts) {
  EXPECT_DOUBLE_EQ(message_time_s(jack, 0, true), 1.4e-6) << "an empty message is the latency";
  EXPECT_NEAR(message_time_s(jack, 9e9, false), 4 + 3 + 1.4e-6, 1e-9) << "two copies at 4.5, once the wire at 3 GB/s";
  EXPECT_NEAR(message_time_s(jack, 24.1e9, true) - message_time_s(jack, 24.1e9, false), 2, 1e-9) << "two sums";
}

TEST(MessageTime, ItsShareGrowsTowardsItsLimit) {
  double before = 0;
  for (double bytes = 8; bytes < 1e12; bytes *= 4) {
    const double share = checking_share(jack, bytes);
    EXPECT_GT(share, before);
    EXPECT_LT(share, most_checking_share(jack));
    before = share;
  }
  EXPECT_NEAR(before, most_checking_share(jack), 1e-6);
}

// The paper's cluster as a machine: the section has its 7 % (4,096 bytes) and the limit.
TEST(MessageTime, IsInTheTransportSection) {
  const auto machine = read_machine(
      "[machine]\nname = \"jack\"\nnodes = 2\n[transport]\nbandwidth = \"24 Gbit/s\"\nround_trip = \"2.8 us\"\n"
      "bit_error_rate = 1e-15\ncopy = \"36 Gbit/s\"\nchecksum = \"192.8 Gbit/s\"\n",
      "jack.toml");
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  const Section section = transport_section(machine.value());
  const auto table =
      std::ranges::find_if(section.tables, [](const Table& each) { return each.columns.back() == "checking adds"; });
  ASSERT_NE(table, section.tables.end());
  const auto row = std::ranges::find_if(table->rows, [](const auto& each) { return each[0].value == 4096.0; });
  ASSERT_NE(row, table->rows.end());
  EXPECT_NEAR((*row)[3].value, checking_share(jack, 4096), 1e-9);
  EXPECT_TRUE(
      std::ranges::any_of(section.facts, [](const Fact& each) { return each.name == "checking adds at most"; }));
}

}  // namespace
}  // namespace holdfast::plan
