#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/status/status.h"

/// Checksums of fragments on their way, computed while the bytes are copied: the copy is then all that memory sees, and
/// the sum works on cache lines that are there anyway. Source: A. Denis, F. Trahay, Y. Ishikawa, "High performance
/// checksum computation for fault-tolerant MPI over InfiniBand", section 5.1 in "Fault tolerance in NewMadeleine".
namespace holdfast::integrity {

enum class Checksum : std::uint8_t {
  none,        ///< always 0
  sum,         ///< 64-bit sum of little-endian 64-bit words, the last filled up with zeros: any one bit, at copy speed
  fletcher64,  ///< J. Fletcher, "An Arithmetic Checksum for Serial Transmissions", IEEE Trans. Communications 30(1),
               ///< 1982: 32-bit words, both sums modulo 2^32 - 1, the high half is the sum of sums
  crc32c,      ///< RFC 3720, 12.1
  xxh3_64,     ///< XXH3 of xxHash, seed 0
};

/// The names used in options, in the order of the enumeration.
inline constexpr std::array<std::string_view, 5> checksum_names = {"none", "sum", "fletcher64", "crc32c", "xxh3-64"};

/// The checksum of `bytes`, which may be empty. Any thread.
std::uint64_t checksum(Checksum algorithm, std::span<const std::byte> bytes);

/// Copies `from` to `to`, which do not overlap, and gives their checksum. Any thread.
std::uint64_t copy_with_checksum(Checksum algorithm, std::byte* to, std::span<const std::byte> from);

/// The bytes of the list `pieces`, seen end to end.
std::size_t bytes_of(std::span<const iovec> pieces);

/// The checksum of `bytes` bytes of the list from `offset` on, seen end to end: the same as of one contiguous piece.
/// With `to`, copies them there too. The list must have that many.
std::uint64_t gather_with_checksum(Checksum algorithm, std::span<const iovec> pieces, std::size_t offset,
                                   std::size_t bytes, std::byte* to);

/// Copies `from` into the list from `offset` on, as far as the list goes, and gives the checksum of all of `from`.
std::uint64_t scatter_with_checksum(Checksum algorithm, std::span<const iovec> pieces, std::size_t offset,
                                    std::span<const std::byte> from);

}  // namespace holdfast::integrity
