#include "replicate/engine/membership_seal.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::replicate {
namespace {

using Kind = MembershipMessage::Kind;
using From = MembershipSeal::From;

secret::Key key(unsigned char first) {
  secret::Key made{};
  made[0] = std::byte{first};
  return made;
}

MembershipMessage join_of(int rank) {
  MembershipMessage join;
  join.kind = Kind::join;
  join.rank = rank;
  join.number = 1;
  join.nonce = std::string(nonce_digits, 'b');
  return join;
}

MembershipSeal seal(From from, int rank = 0, unsigned char secret = 1, char challenge = 'c') {
  return {key(secret), join_of(rank), std::string(nonce_digits, challenge), from};
}

std::string without_end(std::string line) {
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  return line;
}

TEST(MembershipSeal, LinesOfOneSideAreBelievedByTheOther) {
  MembershipSeal sender = seal(From::process);
  MembershipSeal receiver = seal(From::process);
  for (const MembershipMessage& message :
       {MembershipMessage{Kind::ready}, MembershipMessage{Kind::exit, -1, 3}, MembershipMessage{Kind::ready}}) {
    const std::string line = without_end(sender.line(message));
    EXPECT_LE(line.size(), longest_membership_message);
    EXPECT_EQ(receiver.open(line), message);
  }
}

TEST(MembershipSeal, ALineOfSomebodyElseIsNot) {
  const std::string line = without_end(seal(From::process).line({Kind::exit, -1, 3}));
  EXPECT_TRUE(seal(From::process).open(line));
  EXPECT_FALSE(seal(From::run).open(line)) << "sent back to who sent it";
  EXPECT_FALSE(seal(From::process, 1).open(line)) << "of another process";
  EXPECT_FALSE(seal(From::process, 0, 2).open(line)) << "under another secret";
  EXPECT_FALSE(seal(From::process, 0, 1, 'd').open(line)) << "of another connection";
  for (const char* bare : {"", "ready", "exit 0", "ready "}) EXPECT_FALSE(seal(From::process).open(bare));
}

TEST(MembershipSeal, NoLineIsChangedRepeatedLeftOutOrMoved) {
  MembershipSeal sender = seal(From::run);
  const std::string first = without_end(sender.line({Kind::gone, -1, 0}));
  const std::string second = without_end(sender.line({Kind::gone, -1, 0}));
  EXPECT_NE(first, second);
  EXPECT_FALSE(seal(From::run).open(second)) << "the first was left out, or comes later";
  for (std::size_t at = 0; at < first.size(); ++at) {
    std::string changed = first;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(seal(From::run).open(changed)) << changed;
  }
  MembershipSeal receiver = seal(From::run);
  EXPECT_TRUE(receiver.open(first));
  EXPECT_FALSE(receiver.open(first)) << "repeated";
  EXPECT_TRUE(receiver.open(second));
}

}  // namespace
}  // namespace holdfast::replicate
