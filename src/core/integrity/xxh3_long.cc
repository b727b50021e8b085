#include "core/integrity/xxh3_long.h"

#include "core/integrity/vector_state.h"
#include "core/integrity/xxh3_dispatch_header.h"

namespace holdfast::integrity {

Digest xxh3_64_dispatched(std::span<const std::byte> bytes) {
  const XXH64_hash_t hash = XXH3_64bits(bytes.data(), bytes.size());
  zero_upper_halves();
  return {hash, 0};
}

Digest xxh3_128_dispatched(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  zero_upper_halves();
  return {hash.low64, hash.high64};
}

}  // namespace holdfast::integrity
