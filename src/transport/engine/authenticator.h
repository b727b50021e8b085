#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/secret/keyed_digest.h"
#include "transport/engine/replay_window.h"
#include "transport/wire/packet_seal.h"

namespace holdfast::transport {

/// What an engine is sure of its peers by. The host brings the randomness, so that a simulated world repeats itself.
struct Secrets {
  secret::Key seed{};                ///< random, of this engine alone: its identities and cookies are made from it
  std::optional<secret::Key> job{};  ///< the same in all engines that are to speak to each other; none: nobody is asked
  bool aes = wire::has_aes_instructions();
};

/// An end of a session: a name and an identity.
struct SessionEnd {
  std::span<const std::byte> name;
  std::uint64_t identity = 0;
};

/// The tags of one session in both directions, and which packets have come.
class SessionSeals {
 public:
  SessionSeals(const secret::Key& job, const SessionEnd& here, const SessionEnd& there, wire::Cipher cipher,
               std::size_t rails);

  wire::Tag outgoing(std::uint8_t rail, std::uint64_t number, std::span<const std::byte> headers,
                     std::span<const iovec> payload) {
    return out_.tag(rail, number, headers, payload);
  }
  enum class Verdict : std::uint8_t { good, replayed, forged };
  /// A good packet is remembered and would be replayed the next time.
  Verdict incoming(const wire::Reader& packet);

 private:
  wire::PacketSeal out_;
  wire::PacketSeal in_;
  std::vector<ReplayWindow> windows_;  ///< by the sender's number of the rail
};

/// Identities, cookies, and the tags of packets that belong to no session.
class Authenticator {
 public:
  explicit Authenticator(const Secrets& secrets);

  bool asks() const { return secrets_.job.has_value(); }
  bool has_aes() const { return secrets_.aes; }
  const secret::Key& job() const { return *secrets_.job; }

  /// Not to be guessed, never 0, another each time.
  std::uint64_t new_identity();
  /// What a HELLO of this name and identity has to bring, when so many of that name were accepted. Never 0. Kept
  /// nowhere.
  std::uint64_t cookie(std::span<const std::byte> name, std::uint64_t identity, std::uint64_t accepted) const;

  /// Of a packet without payload that belongs to no session: its headers, without check and tag.
  wire::Tag greeting_tag(std::span<const std::byte> headers, std::span<const std::byte> rest = {}) const;
  /// Whether such a packet comes from somebody who knows the job's secret; true for all where nobody is asked.
  bool vouches_for(const wire::Reader& packet) const;

 private:
  Secrets secrets_;
  secret::Key identities_;
  secret::Key cookies_;
  secret::Key greetings_;
  std::uint64_t given_ = 0;
};

}  // namespace holdfast::transport
