#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::integrity {

/// The digest of some bytes. 64-bit and 32-bit algorithms leave the upper words zero.
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

enum class Algorithm : std::uint8_t { xxh3_128, xxh3_64, crc32c };

/// Digest of `bytes`, which may be empty. The kernel was chosen once for this CPU. Any thread.
Digest digest(Algorithm algorithm, std::span<const std::byte> bytes);

/// The name used in options ("xxh3-128", "xxh3-64", "crc32c").
std::string_view name(Algorithm algorithm);

}  // namespace holdfast::integrity
