#include "transport/engine/authenticator.h"

#include <algorithm>
#include <cstring>

namespace holdfast::transport {
namespace {

std::uint64_t number_of(const secret::Digest& digest) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number != 0 ? number : 1;
}

// Each direction has a key of its own, so that a packet that is sent back to its sender is forged there. All that both
// ends know of the session goes into it.
secret::Key direction_key(const secret::Key& job, const SessionEnd& from, const SessionEnd& to, wire::Cipher cipher) {
  return secret::KeyedDigest(job)
      .text("holdfast session")
      .number(static_cast<std::uint64_t>(cipher))
      .text(from.name)
      .text(to.name)
      .number(from.identity)
      .number(to.identity)
      .finish();
}

}  // namespace

SessionSeals::SessionSeals(const secret::Key& job, const SessionEnd& here, const SessionEnd& there, wire::Cipher cipher,
                           std::size_t rails)
    : out_(direction_key(job, here, there, cipher), cipher),
      in_(direction_key(job, there, here, cipher), cipher),
      windows_(rails) {}

SessionSeals::Verdict SessionSeals::incoming(const wire::Reader& packet) {
  const wire::PacketHeader& header = packet.header();
  if (header.rail >= windows_.size()) return Verdict::forged;
  ReplayWindow& window = windows_[header.rail];
  if (!window.fresh(header.number)) return Verdict::replayed;
  const auto first = packet.untagged();
  const std::span<const std::byte> after = packet.after_header();
  const iovec rest = {const_cast<std::byte*>(after.data()), after.size()};  // NOLINT: iovec's members are not const
  const wire::Tag tag = in_.tag(header.rail, header.number, first, {&rest, 1});
  if (!secret::equal(tag, header.tag)) return Verdict::forged;
  window.note(header.number);
  return Verdict::good;
}

Authenticator::Authenticator(const Secrets& secrets)
    : secrets_(secrets),
      identities_(secret::derive(secrets.seed, "holdfast identities")),
      cookies_(secret::derive(secrets.seed, "holdfast cookies")),
      greetings_(secret::derive(secrets.job.value_or(secret::Key{}), "holdfast greetings")) {}

std::uint64_t Authenticator::new_identity() {
  return number_of(secret::KeyedDigest(identities_).number(++given_).finish());
}

std::uint64_t Authenticator::cookie(std::span<const std::byte> name, std::uint64_t identity,
                                    std::uint64_t accepted) const {
  return number_of(secret::KeyedDigest(cookies_).text(name).number(identity).number(accepted).finish());
}

wire::Tag Authenticator::greeting_tag(std::span<const std::byte> headers, std::span<const std::byte> rest) const {
  wire::Tag tag{};
  if (!asks()) return tag;
  const secret::Digest digest = secret::KeyedDigest(greetings_).bytes(headers).bytes(rest).finish();
  std::copy_n(digest.begin(), tag.size(), tag.begin());
  return tag;
}

bool Authenticator::vouches_for(const wire::Reader& packet) const {
  if (!asks()) return true;
  return secret::equal(greeting_tag(packet.untagged(), packet.after_header()), packet.header().tag);
}

}  // namespace holdfast::transport
