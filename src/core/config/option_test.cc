#include "core/config/option.h"

#include <gtest/gtest.h>

#include "core/config/sample_options_for_tests.h"

namespace holdfast::config {
namespace {

const Option& row(std::string_view name) {
  return *sample::table().find(name);
}

std::string round_trip(std::string_view name, std::string_view text) {
  const Result<Value> value = read_value(row(name), text, "reading");
  return value ? write_value(row(name), value.value()) : value.status().message();
}

TEST(Option, DerivesItsNames) {
  EXPECT_EQ(flag_name("replicate.ack_delay"), "--replicate.ack-delay");
  EXPECT_EQ(environment_name("replicate.ack_delay"), "HOLDFAST_REPLICATE_ACK_DELAY");
  EXPECT_EQ(environment_name("replicate.ack-delay"), "HOLDFAST_REPLICATE_ACK_DELAY");
  EXPECT_TRUE(same_name("a.b-c", "a.b_c"));
  EXPECT_FALSE(same_name("a.b-c", "a.b.c"));
  EXPECT_FALSE(same_name("a.b-c", "a.b-cd"));
}

TEST(Option, ReadsAndWritesEveryType) {
  EXPECT_EQ(round_trip("replicate.protocol", "all_to_all"), "all-to-all");
  EXPECT_EQ(round_trip("replicate.ack_delay", "0.01 s"), "10ms");
  EXPECT_EQ(round_trip("replicate.offset", "-10"), "-10");
  EXPECT_EQ(round_trip("replicate.window", "4096"), "4096");
  EXPECT_EQ(round_trip("replicate.share", "1e-3"), "0.001");
  EXPECT_EQ(round_trip("replicate.verify", "off"), "false");
  EXPECT_EQ(round_trip("replicate.map", ""), "");
  EXPECT_EQ(round_trip("replicate.map", "a file"), "a file");
}

TEST(Option, RefusesTextOfAnotherForm) {
  EXPECT_EQ(round_trip("replicate.protocol", "msg-plus-hsah"),
            "reading: 'msg-plus-hsah' is no value of replicate.protocol: did you mean 'msg-plus-hash'?");
  EXPECT_EQ(round_trip("replicate.protocol", "gossip"),
            "reading: 'gossip' is no value of replicate.protocol: choose one of msg-plus-hash, all-to-all");
  EXPECT_EQ(
      round_trip("replicate.ack_delay", "10"),
      "reading: '10' is no value of replicate.ack_delay, which takes a whole number of nanoseconds written with a "
      "unit, as in 10ms: the default is 10ms");
  for (const char* text : {"", "x", "1x", "-1", "+1", " 1", "0x10", "1.0", "18446744073709551616"}) {
    EXPECT_NE(round_trip("replicate.window", text).find("is no value of"), std::string::npos) << text;
  }
  for (const char* text : {"", "nan", "inf", "1e999", "0.5x"}) {
    EXPECT_NE(round_trip("replicate.share", text).find("is no value of"), std::string::npos) << text;
  }
  EXPECT_NE(round_trip("replicate.verify", "TRUE").find("true or false"), std::string::npos);
}

TEST(Option, HoldsBoundsAndNamesThemWithTheUnit) {
  EXPECT_EQ(round_trip("replicate.window", "0"),
            "reading: '0' is out of bounds for replicate.window: give a value of 1 to 4096 packets");
  EXPECT_EQ(round_trip("replicate.window", "4097"),
            "reading: '4097' is out of bounds for replicate.window: give a value of 1 to 4096 packets");
  EXPECT_EQ(round_trip("replicate.ack_delay", "11s"),
            "reading: '11s' is out of bounds for replicate.ack_delay: give a value of 1us to 10s");
  EXPECT_EQ(round_trip("replicate.offset", "-11"),
            "reading: '-11' is out of bounds for replicate.offset: give a value of at least -10");
  EXPECT_EQ(round_trip("replicate.share", "1.0000001"),
            "reading: '1.0000001' is out of bounds for replicate.share: give a value of 0 to 1");
}

TEST(Option, NeverTruncatesIntoANarrowMember) {
  EXPECT_EQ(round_trip("replicate.degree", "2147483647"), "2147483647");
  EXPECT_NE(round_trip("replicate.degree", "2147483648").find("out of bounds"), std::string::npos);
}

TEST(Option, ShowsWhatItTakes) {
  EXPECT_EQ(placeholder(row("replicate.protocol")), "{msg-plus-hash,all-to-all}");
  EXPECT_EQ(placeholder(row("replicate.ack_delay")), "DURATION");
  EXPECT_EQ(bounds_text(row("replicate.verify")), "");
}

}  // namespace
}  // namespace holdfast::config
