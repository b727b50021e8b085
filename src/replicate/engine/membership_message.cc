#include "replicate/engine/membership_message.h"

#include <array>
#include <charconv>
#include <span>
#include <vector>

#include "core/secret/keyed_digest.h"

namespace holdfast::replicate {

namespace {

constexpr std::array<std::string_view, 20> names{
    "challenge", "join",     "welcome", "ready",   "finishing", "finished", "exit",    "failed", "gone",    "finalize",
    "leave",     "starting", "accuse",  "started", "waits",     "look",     "outside", "inside", "working", "idle"};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = line.find(' ');
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

/// Decimal digits alone, as much as fits.
template <class Number>
bool read(std::string_view word, Number& number) {
  if (word.empty() || word.front() < '0' || word.front() > '9') return false;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

bool read_digits(std::string_view word, std::size_t count, std::string& digits) {
  if (word.size() != count || word.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  digits = word;
  return true;
}

}  // namespace

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::string membership_proof(const secret::Key& job, const MembershipMessage& join, std::string_view challenge,
                             MembershipMessage::Kind of) {
  return hexadecimal(secret::KeyedDigest(secret::derive(job, "holdfast membership"))
                         .number(static_cast<std::uint64_t>(of))
                         .text(challenge)
                         .text(join.nonce)
                         .number(static_cast<std::uint64_t>(join.rank))
                         .number(static_cast<std::uint64_t>(join.number))
                         .finish());
}

bool same_proof(std::string_view one, std::string_view other) {
  return secret::equal(std::as_bytes(std::span(one)), std::as_bytes(std::span(other)));
}

std::string nonce_from(const secret::Key& random) {
  return hexadecimal(std::span(random).first(nonce_digits / 2));
}

std::optional<MembershipMessage> parse_membership_message(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  std::size_t kind = 0;
  while (kind < names.size() && names[kind] != words[0]) ++kind;
  if (kind == names.size()) return std::nullopt;
  MembershipMessage message;
  message.kind = static_cast<MembershipMessage::Kind>(kind);
  switch (message.kind) {
    case MembershipMessage::Kind::join:
      if (words.size() != 5 || !read(words[1], message.rank) || !read(words[2], message.number) ||
          !read_digits(words[3], nonce_digits, message.nonce) || !read_digits(words[4], proof_digits, message.proof))
        return std::nullopt;
      return message;
    case MembershipMessage::Kind::challenge:
      if (words.size() != 2 || !read_digits(words[1], nonce_digits, message.nonce)) return std::nullopt;
      return message;
    case MembershipMessage::Kind::welcome:
      if (words.size() != 2 || !read_digits(words[1], proof_digits, message.proof)) return std::nullopt;
      return message;
    case MembershipMessage::Kind::exit:
    case MembershipMessage::Kind::gone:
    case MembershipMessage::Kind::accuse:
      if (words.size() != 2 || !read(words[1], message.number)) return std::nullopt;
      return message;
    case MembershipMessage::Kind::waits:
      if (words.size() > 3 || (words.size() > 1 && !read(words[1], message.rank)) ||
          (words.size() > 2 && !read(words[2], message.number)))
        return std::nullopt;
      return message;
    case MembershipMessage::Kind::outside:
      if (words.size() != 3 || !read(words[1], message.used_ms) || !read(words[2], message.points)) return std::nullopt;
      return message;
    default:
      return words.size() == 1 ? std::optional(message) : std::nullopt;
  }
}

std::string format_membership_message(const MembershipMessage& message) {
  std::string line(names[static_cast<std::size_t>(message.kind)]);
  const bool ranked = message.kind == MembershipMessage::Kind::join || message.kind == MembershipMessage::Kind::waits;
  if (ranked && message.rank >= 0) line += " " + std::to_string(message.rank);
  const bool numbered =
      message.kind == MembershipMessage::Kind::join || message.kind == MembershipMessage::Kind::exit ||
      message.kind == MembershipMessage::Kind::gone || message.kind == MembershipMessage::Kind::accuse ||
      (message.kind == MembershipMessage::Kind::waits && message.rank >= 0);
  if (numbered && message.number >= 0) line += " " + std::to_string(message.number);
  if (message.kind == MembershipMessage::Kind::outside)
    line += " " + std::to_string(message.used_ms) + " " + std::to_string(message.points);
  if (!message.nonce.empty()) line += " " + message.nonce;
  if (!message.proof.empty()) line += " " + message.proof;
  return line + "\n";
}

}  // namespace holdfast::replicate
