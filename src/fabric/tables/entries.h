#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/parallel/parallel_for.h"

namespace holdfast::fabric {

/// An allocator by which a vector that grows leaves its new elements as they are in memory. So whoever fills them, on
/// however many threads, is the first to touch their pages.
template <class T>
struct UnfilledAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UnfilledAllocator<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    std::construct_at(at, std::forward<Values>(values)...);
  }
};

/// A byte for each of many pairs of a switch, or source, and a LID. Hundreds of megabytes on the largest fabrics.
using Entries = std::vector<std::uint8_t, UnfilledAllocator<std::uint8_t>>;

/// Makes them `count` entries of this value. Threads (0: all of the machine) share the pages, of which the system's
/// handing out takes longer than the filling; small ones are filled by the calling thread.
inline void fill_entries(Entries& entries, std::size_t count, std::uint8_t value, unsigned threads) {
  constexpr std::size_t piece = std::size_t{1} << 22;
  entries.resize(0);
  entries.resize(count);
  parallel::parallel_for(count, piece, threads, [&](unsigned /*worker*/, std::size_t begin, std::size_t end) {
    std::fill(entries.data() + begin, entries.data() + end, value);
  });
}

}  // namespace holdfast::fabric
