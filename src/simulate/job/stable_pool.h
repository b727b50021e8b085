#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::simulate::job {

/// Objects by number, of which references stay valid while others are added. They stand in chunks of 64; a number
/// becomes an address by a shift and two loads, where a deque of objects of any size divides. Not thread-safe.
template <class T>
class StablePool {
 public:
  T& operator[](std::size_t index) { return chunks_[index / per_chunk][index % per_chunk]; }
  const T& operator[](std::size_t index) const { return chunks_[index / per_chunk][index % per_chunk]; }
  std::size_t size() const { return size_; }
  /// The number of a new one, which is the next.
  std::uint32_t add() {
    if (size_ % per_chunk == 0) chunks_.push_back(std::make_unique<T[]>(per_chunk));
    return static_cast<std::uint32_t>(size_++);
  }

 private:
  static constexpr std::size_t per_chunk = 64;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::simulate::job
