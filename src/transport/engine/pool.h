#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::transport {

/// What a pooled object derives from.
struct Pooled {
  std::uint32_t pool_index = 0;
  std::uint32_t pool_generation = 0;  ///< odd while in use
};

/// Objects of one type at fixed addresses, taken and given back in constant time; memory grows by chunks of 64 objects
/// and is kept. An object is named by a handle that no later user of its place shares. T derives from Pooled and has
/// `void reuse()`, which makes it like new. Not thread-safe.
template <class T>
class Pool {
 public:
  T* take() {
    if (free_.empty()) grow();
    T* object = free_.back();
    free_.pop_back();
    ++object->pool_generation;
    object->reuse();
    ++in_use_;
    return object;
  }

  void give(T* object) {
    ++object->pool_generation;
    free_.push_back(object);
    --in_use_;
  }

  /// Never 0, and below 2^63.
  static std::uint64_t handle(const T* object) {
    return static_cast<std::uint64_t>(object->pool_generation & generation_mask) << 32 | object->pool_index;
  }

  /// The object of this handle, or null when it was given back.
  T* find(std::uint64_t handle) {
    const auto index = static_cast<std::uint32_t>(handle);
    const auto generation = static_cast<std::uint32_t>(handle >> 32);
    if (index >= chunks_.size() * chunk_objects || (generation & 1) == 0) return nullptr;
    T* object = &chunks_[index / chunk_objects][index % chunk_objects];
    return (object->pool_generation & 1) != 0 && (object->pool_generation & generation_mask) == generation ? object
                                                                                                           : nullptr;
  }

  /// Calls visit() with every object in use.
  template <class Visit>
  void each(Visit visit) {
    for (const std::unique_ptr<T[]>& chunk : chunks_) {
      for (std::size_t i = 0; i < chunk_objects; ++i) {
        if ((chunk[i].pool_generation & 1) != 0) visit(chunk[i]);
      }
    }
  }

  std::size_t in_use() const { return in_use_; }
  std::size_t memory_bytes() const {
    return chunks_.size() * chunk_objects * sizeof(T) + free_.capacity() * sizeof(T*);
  }

 private:
  static constexpr std::size_t chunk_objects = 64;
  static constexpr std::uint32_t generation_mask = 0x7FFFFFFF;

  void grow() {
    const auto base = static_cast<std::uint32_t>(chunks_.size() * chunk_objects);
    chunks_.push_back(std::make_unique<T[]>(chunk_objects));
    free_.reserve(chunks_.size() * chunk_objects);
    for (std::size_t i = chunk_objects; i-- > 0;) {
      chunks_.back()[i].pool_index = base + static_cast<std::uint32_t>(i);
      free_.push_back(&chunks_.back()[i]);
    }
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<T*> free_;
  std::size_t in_use_ = 0;
};

}  // namespace holdfast::transport
