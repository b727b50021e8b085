#include "replicate/engine/roll_call.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::replicate {
namespace {

using Kind = RollCall::Kind;

TEST(RollCall, EveryMessageSurvivesItsLine) {
  const RollCall messages[] = {{Kind::join, ~std::uint64_t{0}, 2147483647, 1023},
                               {Kind::ready},
                               {Kind::starting},
                               {Kind::finishing},
                               {Kind::finished},
                               {Kind::exit, 0, -1, 255},
                               {Kind::failed},
                               {Kind::gone, 0, -1, 0},
                               {Kind::finalize},
                               {Kind::leave}};
  for (const RollCall& message : messages) {
    std::string line = format_roll_call(message);
    EXPECT_LE(line.size(), longest_roll_call + 1);
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    EXPECT_EQ(parse_roll_call(line), message) << line;
  }
}

TEST(RollCall, WhatIsNoMessageIsRefused) {
  for (const char* line : {"", " ", "join", "join 1 2", "join 1 2 3 4", "join -1 0 0", "join 1 +2 3", "join 1 2 3x",
                           "join 99999999999999999999 0 0", "ready now", "ready ", "gone", "gone 2147483648", "exit",
                           "exit  1", "Ready", "GET / HTTP/1.1"})
    EXPECT_FALSE(parse_roll_call(line)) << line;
}

TEST(RollCall, AStreamIsCutIntoMessagesWhereverItIsSplit) {
  const std::string stream = "join 5 1 2\nready\nexit 3\n";
  for (std::size_t split = 0; split <= stream.size(); ++split) {
    RollCallReader reader;
    std::vector<RollCall> messages;
    for (const std::string& part : {stream.substr(0, split), stream.substr(split)}) {
      reader.push(part);
      while (auto message = reader.next()) messages.push_back(*message);
    }
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_EQ(messages[0], (RollCall{Kind::join, 5, 1, 2}));
    EXPECT_EQ(messages[2], (RollCall{Kind::exit, 0, -1, 3}));
    EXPECT_FALSE(reader.spoilt());
  }
}

TEST(RollCall, NothingIsBelievedAfterALineThatSaysNothing) {
  RollCallReader reader;
  reader.push("ready\nnonsense\nready\n");
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.spoilt());
  EXPECT_FALSE(reader.next());
}

TEST(RollCall, AnEndlessLineIsNotKept) {
  RollCallReader reader;
  reader.push(std::string(longest_roll_call + 1, 'x'));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.spoilt());
}

}  // namespace
}  // namespace holdfast::replicate
