#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace holdfast::simulate {

/// A first-in-first-out queue in a RingPool. 8 bytes.
struct Ring {
  std::uint32_t quad : 27 = 0;  ///< begins at entry 4 * quad of the pool
  std::uint32_t log2_size : 5 = 2;
  std::uint16_t head = 0;  ///< counts entries that were taken, modulo 2^16
  std::uint16_t count = 0;
};

/// Memory for many small queues of T, side by side. One that outgrows its place moves to the pool's end, which only
/// unusual mixes of packet sizes cause; its old place is lost. push() moves entries: references end with it.
template <class T>
class RingPool {
 public:
  /// A queue for this many before it must move, rounded up to a power of two of 4 at least.
  Ring make(std::uint32_t capacity) {
    const std::uint32_t size = std::bit_ceil(std::max<std::uint32_t>(capacity, 4));
    Ring ring;
    ring.quad = static_cast<std::uint32_t>(pool_.size() / 4) & 0x7ffffff;
    ring.log2_size = static_cast<std::uint32_t>(std::countr_zero(size)) & 0x1f;
    pool_.resize(pool_.size() + size);
    return ring;
  }
  T& at(const Ring& ring, std::uint32_t i) { return pool_[place(ring, i)]; }
  const T& at(const Ring& ring, std::uint32_t i) const { return pool_[place(ring, i)]; }
  void pop(Ring& ring) const {
    ++ring.head;
    --ring.count;
  }
  void push(Ring& ring, const T& value) {
    if (ring.count >> ring.log2_size != 0) grow(ring);
    at(ring, ring.count++) = value;
  }
  void prefetch(const Ring& ring) const { __builtin_prefetch(&pool_[std::size_t{ring.quad} * 4], 1); }
  std::uint64_t bytes() const { return pool_.capacity() * sizeof(T); }

 private:
  std::size_t place(const Ring& ring, std::uint32_t i) const {
    return std::size_t{ring.quad} * 4 + ((ring.head + i) & ((1U << ring.log2_size) - 1));
  }
  [[gnu::noinline]] void grow(Ring& ring) {
    Ring larger = make(2U << ring.log2_size);
    for (std::uint32_t i = 0; i < ring.count; ++i) at(larger, i) = at(ring, i);
    larger.count = ring.count;
    ring = larger;
  }

  std::vector<T> pool_;
};

}  // namespace holdfast::simulate
