#include "core/integrity/crc32c.h"

#include <array>
#include <cstring>

#include "core/integrity/crc32c_portable.h"
#include "core/integrity/crc32c_sse42.h"

namespace holdfast::integrity {
namespace {

bool anywhere() {
  return true;
}

constexpr auto kernels = std::to_array<Crc32cKernel>({
#if defined(__x86_64__)
  {"sse4.2", crc32c_sse42_supported, crc32c_sse42},
#endif
      {"portable", anywhere, crc32c_portable},
});

const Crc32cKernel& choose() {
  for (const Crc32cKernel& kernel : kernels) {
    if (kernel.supported()) return kernel;
  }
  return kernels.back();
}

}  // namespace

std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes) {
  static const auto extend = choose().extend;
  return extend(crc, bytes);
}

std::uint32_t crc32c_copy_extend(std::uint32_t crc, std::byte* to, std::span<const std::byte> from) {
  constexpr std::size_t block_bytes = 8192;  // still in the first-level cache when it is summed
  while (!from.empty()) {
    const std::size_t bytes = from.size() < block_bytes ? from.size() : block_bytes;
    std::memcpy(to, from.data(), bytes);
    crc = crc32c_extend(crc, {to, bytes});
    to += bytes;
    from = from.subspan(bytes);
  }
  return crc;
}

std::span<const Crc32cKernel> crc32c_kernels() {
  return kernels;
}

}  // namespace holdfast::integrity
