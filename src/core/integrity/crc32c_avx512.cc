#include "core/integrity/crc32c_avx512.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "core/integrity/crc32c_sse42.h"
#include "core/integrity/vector_state.h"

// Only these functions use the instructions; the file is compiled for any x86-64, so that nothing else does.
#define HOLDFAST_FOLD_TARGET __attribute__((target("avx512f,avx512bw,vpclmulqdq,pclmul,sse4.2")))

namespace holdfast::integrity {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // 0x1EDC6F41 reflected

// x^exponent modulo the polynomial, reflected in 33 bits: what a reflected 64-bit half is multiplied with.
constexpr std::uint64_t fold_factor(std::size_t exponent) {
  std::uint32_t power = 0x80000000;
  for (std::size_t i = 0; i < exponent; ++i) power = (power & 1) != 0 ? (power >> 1) ^ polynomial : power >> 1;
  return static_cast<std::uint64_t>(power) << 1;
}

// What moves each 128-bit lane ahead by `bits`: for its low half, and its high half.
template <std::size_t bits>
HOLDFAST_FOLD_TARGET inline __m512i factors() {
  constexpr auto low = static_cast<long long>(fold_factor(bits + 32));
  constexpr auto high = static_cast<long long>(fold_factor(bits - 32));
  return _mm512_set_epi64(high, low, high, low, high, low, high, low);
}

HOLDFAST_FOLD_TARGET inline __m512i fold(__m512i lanes, __m512i by, __m512i next) {
  const __m512i low = _mm512_clmulepi64_epi128(lanes, by, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(lanes, by, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, 0x96);  // the exclusive or of the three
}

template <bool copies>
HOLDFAST_FOLD_TARGET inline __m512i take(const std::byte* from, std::byte* to, std::size_t offset) {
  const __m512i bytes = _mm512_loadu_si512(from + offset);
  if constexpr (copies) _mm512_storeu_si512(to + offset, bytes);  // without a copy `to` is null
  return bytes;
}

constexpr std::size_t fold_bytes = 256;  // a step of four registers

/// Of at least fold_bytes. Not inline: what calls it has no such registers.
template <bool copies>
HOLDFAST_FOLD_TARGET std::uint32_t run(std::uint32_t crc, std::byte* to, std::span<const std::byte> bytes) {
  const std::byte* from = bytes.data();
  __m512i first = take<copies>(from, to, 0);
  __m512i second = take<copies>(from, to, 64);
  __m512i third = take<copies>(from, to, 128);
  __m512i fourth = take<copies>(from, to, 192);
  first = _mm512_xor_si512(first, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~crc))));
  std::size_t done = fold_bytes;
  std::size_t left = bytes.size() - fold_bytes;
  const __m512i by_256 = factors<fold_bytes * 8>();
  for (; left >= fold_bytes; left -= fold_bytes, done += fold_bytes) {
    first = fold(first, by_256, take<copies>(from, to, done));
    second = fold(second, by_256, take<copies>(from, to, done + 64));
    third = fold(third, by_256, take<copies>(from, to, done + 128));
    fourth = fold(fourth, by_256, take<copies>(from, to, done + 192));
  }
  const __m512i by_64 = factors<64 * 8>();
  fourth = fold(fold(fold(first, by_64, second), by_64, third), by_64, fourth);
  for (; left >= 64; left -= 64, done += 64) fourth = fold(fourth, by_64, take<copies>(from, to, done));
  // The 64 bytes that are left stand for everything before: the crc32 instruction sums them from zero.
  alignas(64) std::uint64_t words[8];
  _mm512_store_si512(words, fourth);
  std::uint64_t state = 0;
  for (const std::uint64_t word : words) state = _mm_crc32_u64(state, word);
  crc = ~static_cast<std::uint32_t>(state);
  if (left == 0) return crc;
  if constexpr (copies) std::memcpy(to + done, from + done, left);
  return crc32c_sse42(crc, bytes.subspan(done));
}

/// GCC zeroes the upper halves after run() by itself from -O2 on, not with -O1.
template <bool copies>
std::uint32_t run_and_zero(std::uint32_t crc, std::byte* to, std::span<const std::byte> bytes) {
  const std::uint32_t sum = run<copies>(crc, to, bytes);
  zero_upper_halves();
  return sum;
}

}  // namespace

bool crc32c_avx512_supported() {
  return crc32c_sse42_supported() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
}

std::uint32_t crc32c_avx512(std::uint32_t crc, std::span<const std::byte> bytes) {
  return bytes.size() < fold_bytes ? crc32c_sse42(crc, bytes) : run_and_zero<false>(crc, nullptr, bytes);
}

std::uint32_t crc32c_copy_avx512(std::uint32_t crc, std::byte* to, std::span<const std::byte> from) {
  if (from.size() >= fold_bytes) return run_and_zero<true>(crc, to, from);
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
  return crc32c_sse42(crc, from);
}

}  // namespace holdfast::integrity

#endif
