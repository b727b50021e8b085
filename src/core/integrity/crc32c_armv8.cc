#include "core/integrity/crc32c_armv8.h"

#if defined(__aarch64__)

#include <arm_acle.h>
#include <sys/auxv.h>

#include <cstring>

namespace holdfast::integrity {

bool crc32c_armv8_supported() {
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

[[gnu::target("+crc")]] std::uint32_t crc32c_armv8(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint32_t state = ~crc;
  const std::byte* next = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, next += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, next, sizeof word);
    state = __crc32cd(state, word);
  }
  for (; left > 0; --left, ++next) state = __crc32cb(state, std::to_integer<std::uint8_t>(*next));
  return ~state;
}

}  // namespace holdfast::integrity

#endif
