#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// CRC32C, the Castagnoli polynomial 0x1EDC6F41, reflected, initial value and final inversion all ones (RFC
/// 3720, 12.1).
namespace holdfast::integrity {

/// The CRC of some bytes followed by `bytes`, given the CRC of the first (0 when there are none). The kernel was chosen
/// once for this CPU. Any thread.
std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes);

/// crc32c_extend() of `from`, which is copied to `to` on the way; they do not overlap. Any thread.
std::uint32_t crc32c_copy_extend(std::uint32_t crc, std::byte* to, std::span<const std::byte> from);

/// One implementation of crc32c_extend(), and of crc32c_copy_extend(). All give the same values.
struct Crc32cKernel {
  std::string_view name;
  bool (*supported)();
  std::uint32_t (*extend)(std::uint32_t crc, std::span<const std::byte> bytes);
  std::uint32_t (*copy_extend)(std::uint32_t crc, std::byte* to, std::span<const std::byte> from);
};

/// Every kernel of this build, best first; the last one runs anywhere.
std::span<const Crc32cKernel> crc32c_kernels();

}  // namespace holdfast::integrity
