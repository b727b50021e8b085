#pragma once

#if defined(__aarch64__)

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::integrity {

/// Whether this CPU has the CRC32 instructions of ARMv8 (optional in 8.0, in every one from 8.1 on).
bool crc32c_armv8_supported();

/// crc32c_extend() with these instructions, eight bytes at a time (Arm Architecture Reference Manual, CRC32CX).
/// Requires crc32c_armv8_supported().
std::uint32_t crc32c_armv8(std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace holdfast::integrity

#endif
