#include "core/integrity/xxh3.h"

#include <array>

#include "core/integrity/xxh3_long.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace holdfast::integrity {
namespace {

// XXH3 has closed forms up to this length; beyond it the vectorised loop starts.
constexpr std::size_t longest_short = XXH3_MIDSIZE_MAX;

Digest inlined_64(std::span<const std::byte> bytes) {
  return {XXH3_64bits(bytes.data(), bytes.size()), 0};
}

Digest inlined_128(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

constexpr std::array<Xxh3Kernel, 2> kernels = {
    {{"inlined", inlined_64, inlined_128}, {"dispatched", xxh3_64_dispatched, xxh3_128_dispatched}}};

}  // namespace

Digest xxh3_64(std::span<const std::byte> bytes) {
  return bytes.size() <= longest_short ? inlined_64(bytes) : xxh3_64_dispatched(bytes);
}

Digest xxh3_128(std::span<const std::byte> bytes) {
  return bytes.size() <= longest_short ? inlined_128(bytes) : xxh3_128_dispatched(bytes);
}

std::span<const Xxh3Kernel> xxh3_kernels() {
  return kernels;
}

}  // namespace holdfast::integrity
