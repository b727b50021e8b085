#include "replicate/engine/membership_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::replicate {
namespace {

using Kind = MembershipMessage::Kind;

TEST(MembershipReader, AStreamIsCutIntoMessagesWhereverItIsSplit) {
  const std::string nonce(nonce_digits, 'a');
  const std::string proof(proof_digits, '7');
  const std::string stream = "join 1 2 " + nonce + " " + proof + "\nready\nexit 3\n";
  for (std::size_t split = 0; split <= stream.size(); ++split) {
    MembershipReader reader;
    std::vector<MembershipMessage> messages;
    for (const std::string& part : {stream.substr(0, split), stream.substr(split)}) {
      reader.push(part);
      while (auto message = reader.next()) messages.push_back(*message);
    }
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_EQ(messages[0], (MembershipMessage{Kind::join, 1, 2, nonce, proof}));
    EXPECT_EQ(messages[2], (MembershipMessage{Kind::exit, -1, 3}));
    EXPECT_FALSE(reader.spoilt());
  }
}

TEST(MembershipReader, NothingIsBelievedAfterALineThatSaysNothing) {
  MembershipReader reader;
  reader.push("ready\nnonsense\nready\n");
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.spoilt());
  EXPECT_FALSE(reader.next());
}

TEST(MembershipReader, AnEndlessLineIsNotKept) {
  MembershipReader reader;
  reader.push(std::string(longest_membership_message + 1, 'x'));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.spoilt());
}

TEST(MembershipReader, FromAPointOnEachLineMustHaveItsTag) {
  MembershipMessage join{Kind::join, 1, 2, std::string(nonce_digits, 'a'), std::string(proof_digits, '7')};
  const MembershipSeal seal(secret::Key{}, join, std::string(nonce_digits, 'c'), MembershipSeal::From::process);
  MembershipSeal sender = seal;
  MembershipReader reader;
  reader.push(format_membership_message(join));
  reader.push(sender.line({Kind::ready}));
  reader.push(sender.line({Kind::exit, -1, 3}));
  reader.push("exit 0\n");
  EXPECT_EQ(reader.next(), join);
  reader.expect(seal);
  EXPECT_EQ(reader.next(), MembershipMessage{Kind::ready});
  EXPECT_EQ(reader.next(), (MembershipMessage{Kind::exit, -1, 3}));
  EXPECT_FALSE(reader.next()) << "without a tag";
  EXPECT_TRUE(reader.spoilt());
}

}  // namespace
}  // namespace holdfast::replicate
