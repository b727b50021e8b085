#include "core/integrity/crc32c.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/integrity/crc32c_armv8.h"
#include "core/integrity/crc32c_avx512.h"
#include "core/integrity/crc32c_portable.h"
#include "core/integrity/crc32c_sse42.h"

namespace holdfast::integrity {
namespace {

bool anywhere() {
  return true;
}

// Copies a block and sums it while it is still in the first-level cache.
template <std::uint32_t (*extend)(std::uint32_t, std::span<const std::byte>)>
std::uint32_t copy_in_blocks(std::uint32_t crc, std::byte* to, std::span<const std::byte> from) {
  constexpr std::size_t block_bytes = 8192;
  while (!from.empty()) {
    const std::size_t bytes = std::min(from.size(), block_bytes);
    std::memcpy(to, from.data(), bytes);
    crc = extend(crc, {to, bytes});
    to += bytes;
    from = from.subspan(bytes);
  }
  return crc;
}

constexpr auto kernels = std::to_array<Crc32cKernel>({
#if defined(__x86_64__)
  {"avx512", crc32c_avx512_supported, crc32c_avx512, crc32c_copy_avx512},
      {"sse4.2", crc32c_sse42_supported, crc32c_sse42, copy_in_blocks<crc32c_sse42>},
#elif defined(__aarch64__)
  {"armv8", crc32c_armv8_supported, crc32c_armv8, copy_in_blocks<crc32c_armv8>},
#endif
      {"portable", anywhere, crc32c_portable, copy_in_blocks<crc32c_portable>},
});

const Crc32cKernel& choose() {
  for (const Crc32cKernel& kernel : kernels) {
    if (kernel.supported()) return kernel;
  }
  return kernels.back();
}

const Crc32cKernel& chosen() {
  static const Crc32cKernel& kernel = choose();
  return kernel;
}

}  // namespace

std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes) {
  return chosen().extend(crc, bytes);
}

std::uint32_t crc32c_copy_extend(std::uint32_t crc, std::byte* to, std::span<const std::byte> from) {
  return chosen().copy_extend(crc, to, from);
}

std::span<const Crc32cKernel> crc32c_kernels() {
  return kernels;
}

}  // namespace holdfast::integrity
