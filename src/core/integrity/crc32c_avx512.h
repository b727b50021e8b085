#pragma once

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::integrity {

/// Whether this CPU has AVX-512 F and BW, VPCLMULQDQ and SSE4.2.
bool crc32c_avx512_supported();

/// crc32c_extend() by folding 256 bytes at a time with carry-less multiplication of 512-bit registers (V. Gopal et al.,
/// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009, in four lanes); short
/// inputs and the last bytes go to the crc32 instruction. Requires crc32c_avx512_supported().
std::uint32_t crc32c_avx512(std::uint32_t crc, std::span<const std::byte> bytes);

/// The same, and every register that was loaded is stored to `to` too. The two do not overlap.
std::uint32_t crc32c_copy_avx512(std::uint32_t crc, std::byte* to, std::span<const std::byte> from);

}  // namespace holdfast::integrity

#endif
