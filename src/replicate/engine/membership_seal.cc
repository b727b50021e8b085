#include "replicate/engine/membership_seal.h"

#include <span>

#include "core/secret/keyed_digest.h"

namespace holdfast::replicate {

namespace {

constexpr std::size_t tag_digits = 32;

secret::Key key_of(const secret::Key& job, const MembershipMessage& join, std::string_view challenge,
                   MembershipSeal::From from) {
  return secret::KeyedDigest(secret::derive(job, "holdfast membership lines"))
      .number(static_cast<std::uint64_t>(from))
      .text(challenge)
      .text(join.nonce)
      .number(static_cast<std::uint64_t>(join.rank))
      .number(static_cast<std::uint64_t>(join.number))
      .finish();
}

}  // namespace

MembershipSeal::MembershipSeal(const secret::Key& job, const MembershipMessage& join, std::string_view challenge,
                               From from)
    : key_(key_of(job, join, challenge, from)) {}

std::string MembershipSeal::tag(std::string_view words) {
  const secret::Digest digest = secret::KeyedDigest(key_).number(number_).text(words).finish();
  return hexadecimal(std::span(digest).first(tag_digits / 2));
}

std::string MembershipSeal::line(const MembershipMessage& message) {
  std::string words = format_membership_message(message);
  words.pop_back();
  std::string line = words + " " + tag(words) + "\n";
  ++number_;
  return line;
}

std::optional<MembershipMessage> MembershipSeal::open(std::string_view line) {
  if (line.size() <= tag_digits + 1) return std::nullopt;
  const std::string_view words = line.substr(0, line.size() - tag_digits - 1);
  if (line[words.size()] != ' ' || !same_proof(line.substr(words.size() + 1), tag(words))) return std::nullopt;
  ++number_;
  return parse_membership_message(words);
}

}  // namespace holdfast::replicate
