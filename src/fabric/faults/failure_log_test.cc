#include "fabric/faults/failure_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

constexpr const char* whole_log =
    "# one room\r\n"
    "observed, 2010-09-01, 2012-09-01T12:30\n"
    "parts, link, 3621\n"
    "parts,switch,258\n"
    "\n"
    "failed, link, edge-7/12, 2011-02-03T04:00:30Z, 2011-02-04T10:00\n"
    "failed, switch, core-3, 2012-02-29 00:00\n"
    "failed, link, edge-7/12, 2011-02-04T10:00,";

TEST(FailureLog, IsReadAsItIsWritten) {
  const auto read = parse_failure_log(whole_log, "room.csv");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const FailureLog& log = read.value();
  EXPECT_EQ(log.from_s, 1283299200);  // date -u -d 2010-09-01 +%s
  EXPECT_EQ(log.to_s, 1346502600);    // date -u -d '2012-09-01 12:30' +%s
  EXPECT_EQ(log.parts, (std::array<std::uint64_t, 3>{3621, 258, 0}));
  ASSERT_EQ(log.entries.size(), 3U);
  EXPECT_EQ(log.entries[0].failed_s, 1296705630);  // date -u -d '2011-02-03 04:00:30' +%s
  EXPECT_EQ(log.entries[0].repaired_s, 1296813600);
  EXPECT_EQ(log.entries[0].part, "edge-7/12");
  EXPECT_EQ(log.entries[1].component, Component::switch_);
  EXPECT_FALSE(log.entries[1].repaired_s);
  EXPECT_FALSE(log.entries[2].repaired_s);
}

TEST(FailureLog, LinesEndInAnyWay) {
  const std::string text =
      "# one room\nobserved, 2010-01-01, 2012-01-01\nparts, link, 2\nfailed, link, a, 2011-01-02\n";
  for (const std::string end : {"\r", "\r\n", "\r\r\n"}) {
    std::string other = "\xEF\xBB\xBF";
    for (const char letter : text) other += letter == '\n' ? end : std::string(1, letter);
    const auto log = parse_failure_log(other, "room.csv");
    ASSERT_TRUE(log.ok()) << log.status().message();
    ASSERT_EQ(log.value().entries.size(), 1U);
    EXPECT_EQ(log.value().entries[0].part, "a");
    EXPECT_EQ(log.value().parts[0], 2U);
    const auto wrong = parse_failure_log(other + "faild, link, b" + end, "room.csv");
    EXPECT_THAT(wrong.status().message(), HasSubstr("line 5: no line begins with 'faild'"));
  }
}

TEST(FailureLog, MistakesAreSaidWithTheirLine) {
  const std::string head = "observed, 2010-01-01, 2012-01-01\nparts, link, 2\n";
  const std::pair<std::string, std::string> wrong[] = {
      {"", "reading room.csv: it does not say when the network was observed"},
      {"parts, link, 3\n", "reading room.csv: it does not say when the network was observed"},
      {"obsreved, 2010-01-01, 2012-01-01\n", "line 1: no line begins with 'obsreved': did you mean 'observed'?"},
      {"observed, 2010-01-01\n", "line 1: 'observed' with 1 values"},
      {"observed, 2012-01-01, 2010-01-01\n", "ends before it begins"},
      {"observed, 2010-02-30, 2012-01-01\n", "'2010-02-30' is no time"},
      {"observed, 2010-1-1, 2012-01-01\n", "is no time"},
      {"observed, 2010-01-01T24:00, 2012-01-01\n", "is no time"},
      {"observed, -010-01-01, 2012-01-01\n", "is no time"},
      {head + head, "line 3: it was observed twice"},
      {head + "parts, link, 3\n", "line 3: the number of these parts is given twice"},
      {head + "parts, swich, 3\n", "did you mean 'switch'"},
      {head + "parts, switch, -3\n", "'-3' is no number"},
      {head + "parts, switch, \n", "'' is no number"},
      {head + "parts, switch, 99999999999\n", "is no number"},
      {head + "failed, link, a\n", "line 3: 'failed' with 2 values"},
      {head + "failed, link, , 2011-01-01\n", "no name"},
      {head + "failed, link, a, 2009-01-01\n", "line 3: it failed while nobody observed it"},
      {head + "failed, link, a, 2011-01-02, 2011-01-01\n", "repaired before it failed"},
      {head + "failed, switch, a, 2011-01-02\n", "number of these parts is not given"},
      {head + "failed, link, a, 2011-01-02\nfailed, link, b, 2011-01-02\nfailed, link, c, 2011-01-02\n",
       "line 5: more parts have failed than there are"},
      {head + "failed, link, a, 2011-01-02\nfailed, link, a, 2011-01-03\n", "line 4: 'a' fails again"},
      {head + "failed, link, a, 2011-01-05\nfailed, link, a, 2011-01-03, 2011-01-06\n", "line 3: 'a' fails again"},
  };
  for (const auto& [text, part] : wrong) {
    const auto read = parse_failure_log(text, "room.csv");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.status().code(), Code::bad_input);
    EXPECT_THAT(read.status().message(), HasSubstr(part)) << text;
  }
}

}  // namespace
}  // namespace holdfast::fabric
