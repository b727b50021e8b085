#include "core/integrity/crc32c_sse42.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

// Only these functions use the instructions; the file is compiled for any x86-64, so that nothing else does.
#define HOLDFAST_CRC_TARGET __attribute__((target("sse4.2,pclmul")))

namespace holdfast::integrity {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // 0x1EDC6F41 reflected

// x^exponent modulo the polynomial, reflected: the highest bit is x^0.
constexpr std::uint32_t power_of_x(std::size_t exponent) {
  std::uint32_t power = 0x80000000;
  for (std::size_t i = 0; i < exponent; ++i) power = (power & 1) != 0 ? (power >> 1) ^ polynomial : power >> 1;
  return power;
}

// What a reflected 32-bit remainder is multiplied with to move it before `bytes` more bytes. The carry-less product of
// two reflected words is reflected in 63 bits, which is a factor x in 64, and the crc32 instruction that reduces it is
// another x^32, so 33 are taken off.
constexpr std::uint32_t shift_by(std::size_t bytes) {
  return power_of_x(8 * bytes - 33);
}

std::uint64_t load(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

HOLDFAST_CRC_TARGET inline std::uint64_t multiply(std::uint64_t remainder, std::uint32_t factor) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(remainder)),
                                               _mm_cvtsi32_si128(static_cast<int>(factor)), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

// The state after three blocks of `length` bytes, a multiple of 8.
template <std::size_t length>
HOLDFAST_CRC_TARGET inline std::uint64_t three_blocks(std::uint64_t state, const std::byte* bytes) {
  constexpr std::uint32_t by_two = shift_by(2 * length);
  constexpr std::uint32_t by_one = shift_by(length);
  std::uint64_t first = state;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  for (std::size_t i = 0; i < length; i += 8) {
    first = _mm_crc32_u64(first, load(bytes + i));
    second = _mm_crc32_u64(second, load(bytes + length + i));
    third = _mm_crc32_u64(third, load(bytes + 2 * length + i));
  }
  return third ^ _mm_crc32_u64(0, multiply(first, by_two) ^ multiply(second, by_one));
}

// Long blocks make joining rare, short ones serve what is left of them.
constexpr std::size_t long_block = 2048;
constexpr std::size_t short_block = 128;

}  // namespace

bool crc32c_sse42_supported() {
  return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0;
}

HOLDFAST_CRC_TARGET std::uint32_t crc32c_sse42(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint64_t state = static_cast<std::uint32_t>(~crc);
  const std::byte* next = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 3 * long_block; left -= 3 * long_block, next += 3 * long_block) {
    state = three_blocks<long_block>(state, next);
  }
  for (; left >= 3 * short_block; left -= 3 * short_block, next += 3 * short_block) {
    state = three_blocks<short_block>(state, next);
  }
  for (; left >= 8; left -= 8, next += 8) state = _mm_crc32_u64(state, load(next));
  auto tail = static_cast<std::uint32_t>(state);
  for (; left > 0; --left, ++next) tail = _mm_crc32_u8(tail, std::to_integer<unsigned char>(*next));
  return ~tail;
}

}  // namespace holdfast::integrity

#endif
