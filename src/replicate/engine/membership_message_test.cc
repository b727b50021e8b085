#include "replicate/engine/membership_message.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::replicate {
namespace {

using Kind = MembershipMessage::Kind;

TEST(MembershipMessage, EveryMessageSurvivesItsLine) {
  const std::string nonce(nonce_digits, 'a');
  const std::string proof(proof_digits, '7');
  const MembershipMessage messages[] = {{Kind::challenge, -1, -1, nonce, {}},
                                        {Kind::join, 2147483647, 1023, nonce, proof},
                                        {Kind::welcome, -1, -1, {}, proof},
                                        {Kind::ready},
                                        {Kind::starting},
                                        {Kind::finishing},
                                        {Kind::finished},
                                        {Kind::exit, -1, 255},
                                        {Kind::failed},
                                        {Kind::gone, -1, 0},
                                        {Kind::accuse, -1, 2},
                                        {Kind::finalize},
                                        {Kind::leave},
                                        {Kind::waits},
                                        {Kind::waits, 7},
                                        {Kind::waits, 7, 1},
                                        {Kind::look},
                                        {Kind::outside, -1, -1, {}, {}, 18446744073709551615U, 17},
                                        {Kind::inside},
                                        {Kind::working},
                                        {Kind::idle}};
  for (const MembershipMessage& message : messages) {
    std::string line = format_membership_message(message);
    EXPECT_LE(line.size(), longest_membership_message + 1);
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    EXPECT_EQ(parse_membership_message(line), message) << line;
  }
}

TEST(MembershipMessage, WhatIsNoMessageIsRefused) {
  const std::string nonce(nonce_digits, 'a');
  const std::string proof(proof_digits, '7');
  const std::string words = " " + nonce + " " + proof;
  ASSERT_TRUE(parse_membership_message("join 1 2" + words));
  for (const std::string& line :
       {"join -1 0" + words, "join 1 +2" + words, "join 1 2x" + words, "join 99999999999 0" + words,
        "join 1 2 " + nonce, "join 1 2" + words + " 3", "join 1 2 " + proof + " " + nonce, "join 1 2" + words + "0",
        "join 1 2 " + std::string(nonce_digits, 'A') + " " + proof, "challenge " + proof, "welcome " + nonce,
        "challenge " + nonce + " 1"})
    EXPECT_FALSE(parse_membership_message(line)) << line;
  for (const char* line : {"",
                           " ",
                           "join",
                           "join 1 2",
                           "challenge",
                           "welcome",
                           "ready now",
                           "ready ",
                           "gone",
                           "gone 2147483648",
                           "accuse",
                           "accuse -1",
                           "exit",
                           "exit  1",
                           "Ready",
                           "GET / HTTP/1.1",
                           "waits -1",
                           "waits 1 2 3",
                           "outside 1",
                           "outside 1 2 3",
                           "outside -1 0",
                           "outside 18446744073709551616 0",
                           "look 1"})
    EXPECT_FALSE(parse_membership_message(line)) << line;
}

// Of all that goes into a proof, each part counts: what was said on one connection proves nothing on another.
TEST(MembershipMessage, AProofIsOfOneJoinAndOneChallenge) {
  secret::Key job{};
  const std::string nonce(nonce_digits, 'a');
  const std::string other(nonce_digits, 'b');
  const MembershipMessage join{Kind::join, 1, 2, nonce, {}};
  const std::string proof = membership_proof(job, join, nonce, Kind::join);
  EXPECT_EQ(proof.size(), proof_digits);
  EXPECT_TRUE(same_proof(proof, membership_proof(job, join, nonce, Kind::join)));
  EXPECT_FALSE(same_proof(proof, membership_proof(job, join, nonce, Kind::welcome)));
  EXPECT_FALSE(same_proof(proof, membership_proof(job, join, other, Kind::join)));
  EXPECT_FALSE(same_proof(proof, membership_proof(job, {Kind::join, 1, 2, other, {}}, nonce, Kind::join)));
  EXPECT_FALSE(same_proof(proof, membership_proof(job, {Kind::join, 2, 2, nonce, {}}, nonce, Kind::join)));
  EXPECT_FALSE(same_proof(proof, membership_proof(job, {Kind::join, 1, 1, nonce, {}}, nonce, Kind::join)));
  job[0] = std::byte{1};
  EXPECT_FALSE(same_proof(proof, membership_proof(job, join, nonce, Kind::join)));
  EXPECT_FALSE(same_proof(proof, ""));
}

}  // namespace
}  // namespace holdfast::replicate
