#pragma once

#include <cstddef>
#include <span>

#include "core/integrity/digest.h"

namespace holdfast::integrity {

/// digest() of bytes that come in pieces, such as those a derived datatype selects: after any update()s, finish() is
/// the digest of the pieces put end to end, however they were cut. No allocation; 640 bytes, so keep one for many
/// messages. Not thread-safe.
class Digester {
 public:
  explicit Digester(Algorithm algorithm) { init(algorithm); }

  /// Starts over, with this algorithm.
  void init(Algorithm algorithm);
  void update(std::span<const std::byte> bytes);
  /// The digest so far; more may follow.
  Digest finish() const;

 private:
  static constexpr std::size_t state_bytes = 576;  // XXH3_state_t, whose header stays out of this one

  alignas(64) std::byte state_[state_bytes];
  Algorithm algorithm_{};
  std::uint32_t crc_ = 0;
};

}  // namespace holdfast::integrity
