#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::random {

/// A stream of random numbers that is named, not ordered: it depends on the root seed and on a path of names and
/// numbers, never on which other streams exist or how much was drawn from them.
///
///   const Stream root(seed);
///   Stream flips = root.child("replicate").child("inject").child(rank);
///   if (flips.chance(1, 5'000'000)) ...
///
/// A path is folded into 128 bits with Philox itself: 64 of them are the generator's key and 64 its counter's upper
/// half; the lower half counts blocks. Two paths share a stream with probability 2^-128, and one stream is 2^65 words
/// long.
///
/// A value of 48 bytes, no allocation; copying one copies its position. Not thread-safe; the same on every machine.
class Stream {
 public:
  explicit constexpr Stream(std::uint64_t root_seed) : identity_{root_seed, 0} {}

  /// The stream of this name below this one, at its beginning, wherever this one stands.
  Stream child(std::string_view name) const;
  /// The stream of this number below this one (a rank, a trial); differs from every named one.
  Stream child(std::uint64_t number) const;

  /// 64 random bits.
  std::uint64_t next64();

  /// A number of [0, bound), each exactly as likely (D. Lemire, "Fast Random Integer Generation in an Interval", ACM
  /// TOMACS 29(1), 2019). bound > 0; 0 is answered with 0.
  std::uint64_t below(std::uint64_t bound);

  /// True with the exact probability numerator / denominator; numerator >= denominator is always true. Draws one
  /// below(denominator) in every case, so that the probability does not shift what follows.
  bool chance(std::uint64_t numerator, std::uint64_t denominator);

  /// A multiple of 2^-53 of [0, 1), each as likely.
  double uniform();

  /// Exponentially distributed with this mean, > 0: by inversion of uniform(), so at most 36.8 times the mean.
  double exponential(double mean);

 private:
  struct Identity {
    std::uint64_t key = 0;
    std::uint64_t counter = 0;
  };
  Stream descend(std::uint64_t word, std::uint32_t kind) const;

  Identity identity_;
  std::uint64_t block_ = 0;
  std::uint64_t spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace holdfast::random
