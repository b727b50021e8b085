#pragma once

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::integrity {

/// Whether this CPU has SSE4.2 and PCLMULQDQ.
bool crc32c_sse42_supported();

/// crc32c_extend() with the crc32 instruction. The instruction has a latency of three cycles and a throughput of one,
/// so three neighbouring blocks are summed side by side and joined by carry-less multiplication (V. Gopal et al., "Fast
/// CRC Computation for iSCSI Polynomial Using CRC32 Instruction", Intel, 2011). Requires crc32c_sse42_supported().
std::uint32_t crc32c_sse42(std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace holdfast::integrity

#endif
