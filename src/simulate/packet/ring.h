#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "simulate/kernel/line_allocator.h"
#include "simulate/kernel/prefetch.h"

namespace holdfast::simulate {

/// A first-in-first-out queue in a RingPool. 8 bytes.
struct Ring {
  std::uint32_t first = 0;  ///< where the oldest stands in the pool
  std::uint16_t count = 0;
  std::uint16_t mask = 3;  ///< places less one
};

/// Memory for many small queues of T, side by side, each at a multiple of its size, so that one of a cache line is one.
/// One that outgrows its place moves to the pool's end, which only unusual mixes of packet sizes cause; its old place
/// is lost. push() moves entries: references end with it.
template <class T>
class RingPool {
 public:
  /// Room for queues of so many entries in all.
  void reserve(std::size_t entries) { pool_.reserve(entries); }
  /// A queue for this many before it must move, at most 65,536, rounded up to a power of two. Throws std::length_error
  /// when that, or the 2^32 places of all queues, are not enough.
  Ring make(std::uint32_t capacity) {
    const std::size_t size = std::bit_ceil(capacity);
    const std::size_t begin = (pool_.size() + size - 1) / size * size;
    if (size > most_places || begin + size > std::size_t{1} << 32)
      throw std::length_error("too many places for packets");
    Ring ring;
    ring.first = static_cast<std::uint32_t>(begin);
    ring.mask = static_cast<std::uint16_t>(size - 1);
    pool_.resize(begin + size);
    return ring;
  }
  T& oldest(const Ring& ring) { return pool_[ring.first]; }
  const T& oldest(const Ring& ring) const { return pool_[ring.first]; }
  T& at(const Ring& ring, std::uint32_t i) { return pool_[place(ring, i)]; }
  const T& at(const Ring& ring, std::uint32_t i) const { return pool_[place(ring, i)]; }
  void pop(Ring& ring) const {
    ring.first = place(ring, 1);
    --ring.count;
  }
  void push(Ring& ring, const T& value) {
    if (ring.count > ring.mask) grow(ring);
    at(ring, ring.count++) = value;
  }
  /// Asks the memory for the place of queue number `index`, where all were made for `capacity`, a power of two, and it
  /// did not move.
  void prefetch(std::uint32_t index, std::uint32_t capacity) const {
    prefetch_line(&pool_[std::size_t{index} * capacity]);
  }
  std::uint64_t bytes() const { return pool_.capacity() * sizeof(T); }

 private:
  static constexpr std::size_t most_places = std::size_t{1} << 16;  // Ring counts them in 16 bits
  static std::uint32_t place(const Ring& ring, std::uint32_t i) {
    const std::uint32_t mask = ring.mask;
    return (ring.first & ~mask) | ((ring.first + i) & mask);
  }
  [[gnu::noinline]] void grow(Ring& ring) {
    Ring larger = make(2 * (std::uint32_t{ring.mask} + 1));
    for (std::uint32_t i = 0; i < ring.count; ++i) at(larger, i) = at(ring, i);
    larger.count = ring.count;
    ring = larger;
  }

  std::vector<T, LineAllocator<T>> pool_;
};

}  // namespace holdfast::simulate
