#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/secret/key.h"

namespace holdfast::secret {

using Digest = std::array<std::byte, 32>;

/// HMAC-SHA256 (RFC 2104, FIPS 198-1) of what is added, under a key. Numbers are added as 8 bytes, least significant
/// first, and texts with their length before them, so that no two lists of values give the same bytes. Pure: no
/// randomness, no files, no state of the process, so that a library that is preloaded into any program may use it.
class KeyedDigest {
 public:
  explicit KeyedDigest(const Key& key);

  /// Bytes as they are: of a fixed length, or the last.
  KeyedDigest& bytes(std::span<const std::byte> piece);
  KeyedDigest& number(std::uint64_t value);
  KeyedDigest& text(std::span<const std::byte> piece);
  KeyedDigest& text(std::string_view piece) { return text(std::as_bytes(std::span(piece))); }
  /// Once, at the end.
  Digest finish();

 private:
  alignas(64) std::array<std::byte, 512> state_;  ///< of libsodium, which no header of ours includes
};

/// A key for one purpose from another key: HKDF-Expand of one block (RFC 5869, 2.3; the key is uniform, so that nothing
/// has to be extracted). Keys for different purposes tell nothing of each other.
Key derive(const Key& key, std::string_view purpose, std::span<const std::byte> context = {});

/// Whether two digests, or beginnings of digests, are equal, in a time that does not depend on where they differ.
/// False when their lengths differ.
bool equal(std::span<const std::byte> one, std::span<const std::byte> other);

}  // namespace holdfast::secret
