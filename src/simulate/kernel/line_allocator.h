#pragma once

#include <cstddef>

namespace holdfast::simulate {

/// Memory that begins with a cache line; from 2 MiB on in huge pages, where the system gives them (Linux, with
/// transparent huge pages at `madvise` or `always`): the state of a large network is several times what the processor
/// keeps addresses of. Throws std::bad_alloc.
void* allocate_lines(std::size_t bytes);
/// Gives back what allocate_lines() gave.
void free_lines(void* memory);

/// For containers whose elements are one cache line each or several to a line.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>& /*other*/) {}
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_lines(count * sizeof(T))); }
  void deallocate(T* held, std::size_t /*count*/) { free_lines(held); }
  bool operator==(const LineAllocator&) const = default;
};

}  // namespace holdfast::simulate
