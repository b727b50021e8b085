#include "core/integrity/digester.h"

#include "core/integrity/crc32c.h"
#include "core/integrity/vector_state.h"
#include "core/integrity/xxh3_dispatch_header.h"

namespace holdfast::integrity {
namespace {

// The state is plain data that xxHash reads and writes through this pointer only.
XXH3_state_t* state_in(std::byte* bytes) {
  return reinterpret_cast<XXH3_state_t*>(bytes);
}
const XXH3_state_t* state_in(const std::byte* bytes) {
  return reinterpret_cast<const XXH3_state_t*>(bytes);
}

}  // namespace

void Digester::init(Algorithm algorithm) {
  static_assert(sizeof(XXH3_state_t) <= state_bytes && alignof(XXH3_state_t) <= 64);
  algorithm_ = algorithm;
  crc_ = 0;
  if (algorithm == Algorithm::xxh3_128) XXH3_128bits_reset(state_in(state_));
  if (algorithm == Algorithm::xxh3_64) XXH3_64bits_reset(state_in(state_));
}

void Digester::update(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  switch (algorithm_) {
    case Algorithm::xxh3_128:
      XXH3_128bits_update(state_in(state_), bytes.data(), bytes.size());
      break;
    case Algorithm::xxh3_64:
      XXH3_64bits_update(state_in(state_), bytes.data(), bytes.size());
      break;
    case Algorithm::crc32c:
      crc_ = crc32c_extend(crc_, bytes);
      break;
  }
  zero_upper_halves();
}

Digest Digester::finish() const {
  switch (algorithm_) {
    case Algorithm::xxh3_128: {
      const XXH128_hash_t hash = XXH3_128bits_digest(state_in(state_));
      zero_upper_halves();
      return {hash.low64, hash.high64};
    }
    case Algorithm::xxh3_64: {
      const XXH64_hash_t hash = XXH3_64bits_digest(state_in(state_));
      zero_upper_halves();
      return {hash, 0};
    }
    case Algorithm::crc32c:
      return {crc_, 0};
  }
  return {};
}

}  // namespace holdfast::integrity
