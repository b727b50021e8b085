#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::integrity {

/// The digest of some bytes. 64-bit and 32-bit algorithms leave the upper words zero.
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

enum class Algorithm : std::uint8_t { xxh3_128, xxh3_64, crc32c };

/// The names used in options, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> algorithm_names = {"xxh3-128", "xxh3-64", "crc32c"};

/// Digest of `bytes`, which may be empty. The kernel was chosen once for this CPU. Any thread.
/// XXH3 (xxHash 0.8 specification, seed 0) is for messages: it finds any accident, and is no cryptography. CRC32C
/// (RFC 3720, 12.1) finds every error of up to 32 bits in a row, and is what network hardware and file formats speak.
Digest digest(Algorithm algorithm, std::span<const std::byte> bytes);

/// The name used in options ("xxh3-128", "xxh3-64", "crc32c").
std::string_view name(Algorithm algorithm);

/// The algorithm of this name. Error: bad_input, with a hint.
Result<Algorithm> find_algorithm(std::string_view name);

}  // namespace holdfast::integrity
