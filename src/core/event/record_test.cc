#include "core/event/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace holdfast::event {
namespace {

using Json = nlohmann::ordered_json;

enum class Count { messages, bytes, count };
constexpr CounterRows<Count> rows = {
    {{"messages", "messages", "Messages verified."}, {"bytes", "bytes", "Bytes verified."}}};

TEST(Record, WritesCountersInTheOrderOfTheRows) {
  Counters<Count> counters;
  counters[Count::messages] = 3;
  counters[Count::bytes] = std::numeric_limits<std::uint64_t>::max();
  Json record = make_record("holdfast.run", 1);
  record["counters"] = counters_json(rows, counters.values());
  EXPECT_EQ(record.dump(),
            R"({"record":"holdfast.run","version":1,"counters":{"messages":3,"bytes":18446744073709551615}})");
}

TEST(Record, IsReadBack) {
  Counters<Count> counters;
  counters[Count::bytes] = std::numeric_limits<std::uint64_t>::max();
  Json record = make_record("holdfast.run", 1);
  record["counters"] = counters_json(rows, counters.values());
  const Result<Json> again = read_record(record_text(record), "holdfast.run", "x.json");
  ASSERT_TRUE(again) << again.status().message();
  Counters<Count> read;
  EXPECT_EQ(read_counters(again.value()["counters"], rows, read.values()).message(), "ok");
  EXPECT_EQ(read[Count::bytes], counters[Count::bytes]);
}

TEST(Record, CountersOfOtherVersionsAreReadAsFarAsTheyGo) {
  Counters<Count> read;
  read[Count::bytes] = 5;
  EXPECT_TRUE(read_counters(Json::parse(R"({"retired": 9, "messages": 4})"), rows, read.values()));
  EXPECT_EQ(read[Count::messages], 4U);
  EXPECT_EQ(read[Count::bytes], 0U);
}

TEST(Record, CountersThatAreNoneAreRefused) {
  Counters<Count> read;
  read[Count::messages] = 7;
  for (const char* text :
       {R"({"bytes": -1})", R"({"bytes": 1.5})", R"({"bytes": "3"})", R"({"messages": 1, "bytes": {}})", "[]", "3"}) {
    EXPECT_EQ(read_counters(Json::parse(text), rows, read.values()).code(), Code::bad_input) << text;
  }
  EXPECT_EQ(read[Count::messages], 7U);
}

TEST(Record, TextThatIsNoRecordIsRefused) {
  EXPECT_EQ(read_record("{", "holdfast.run", "x.json").status().message(),
            "reading the record x.json: it is no JSON: give a record of holdfast");
  for (const char* text : {"[]", "{}", R"({"record": 3})", R"({"record": "holdfast.study"})"}) {
    EXPECT_THAT(read_record(text, "holdfast.run", "x.json").status().wrong(),
                testing::HasSubstr("no record of the kind holdfast.run"))
        << text;
  }
}

TEST(Record, BytesThatAreNoTextDoNotStopTheWriter) {
  Json record = make_record("holdfast.run", 1);
  record["argument"] = "\xff!";
  EXPECT_THAT(record_text(record), testing::HasSubstr("\xEF\xBF\xBD!"));
}

TEST(Record, AFileIsReplacedWhole) {
  const std::string path = testing::TempDir() + "holdfast_record_test-" + std::to_string(::getpid());
  ASSERT_TRUE(write_record_file(path, make_record("holdfast.run", 1)));
  ASSERT_TRUE(write_record_file(path, make_record("holdfast.run", 2)));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), record_text(make_record("holdfast.run", 2)));
  std::remove(path.c_str());
  EXPECT_EQ(write_record_file(path + "/none/x.json", make_record("holdfast.run", 1)).code(), Code::io);
}

}  // namespace
}  // namespace holdfast::event
