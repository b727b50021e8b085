#include "replicate/engine/roll_call_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::replicate {
namespace {

using Kind = RollCall::Kind;

TEST(RollCallReader, AStreamIsCutIntoMessagesWhereverItIsSplit) {
  const std::string nonce(nonce_digits, 'a');
  const std::string proof(proof_digits, '7');
  const std::string stream = "join 1 2 " + nonce + " " + proof + "\nready\nexit 3\n";
  for (std::size_t split = 0; split <= stream.size(); ++split) {
    RollCallReader reader;
    std::vector<RollCall> messages;
    for (const std::string& part : {stream.substr(0, split), stream.substr(split)}) {
      reader.push(part);
      while (auto message = reader.next()) messages.push_back(*message);
    }
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_EQ(messages[0], (RollCall{Kind::join, 1, 2, nonce, proof}));
    EXPECT_EQ(messages[2], (RollCall{Kind::exit, -1, 3}));
    EXPECT_FALSE(reader.spoilt());
  }
}

TEST(RollCallReader, NothingIsBelievedAfterALineThatSaysNothing) {
  RollCallReader reader;
  reader.push("ready\nnonsense\nready\n");
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.spoilt());
  EXPECT_FALSE(reader.next());
}

TEST(RollCallReader, AnEndlessLineIsNotKept) {
  RollCallReader reader;
  reader.push(std::string(longest_roll_call + 1, 'x'));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.spoilt());
}

TEST(RollCallReader, FromAPointOnEachLineMustHaveItsTag) {
  RollCall join{Kind::join, 1, 2, std::string(nonce_digits, 'a'), std::string(proof_digits, '7')};
  const RollCallSeal seal(secret::Key{}, join, std::string(nonce_digits, 'c'), RollCallSeal::From::process);
  RollCallSeal sender = seal;
  RollCallReader reader;
  reader.push(format_roll_call(join));
  reader.push(sender.line({Kind::ready}));
  reader.push(sender.line({Kind::exit, -1, 3}));
  reader.push("exit 0\n");
  EXPECT_EQ(reader.next(), join);
  reader.expect(seal);
  EXPECT_EQ(reader.next(), RollCall{Kind::ready});
  EXPECT_EQ(reader.next(), (RollCall{Kind::exit, -1, 3}));
  EXPECT_FALSE(reader.next()) << "without a tag";
  EXPECT_TRUE(reader.spoilt());
}

}  // namespace
}  // namespace holdfast::replicate
