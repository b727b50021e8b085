#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace holdfast::heap {

/// Blocks of memory from a range of addresses of its own, so that whose a block is can be told from its address. Blocks
/// are of a few sizes between each power of two and the next; one that is freed is kept for the next of its size, and
/// nothing is given back to the system. Any thread; constant initialisation, as malloc() is called before constructors.
class Region {
 public:
  /// `place`: where its range of 1.25 * 2^40 addresses begins, which nothing else may have by then.
  constexpr explicit Region(std::uintptr_t place) : place_(place) {}
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// At least `bytes` at a multiple of `alignment`, a power of two. Null where the system has no more memory or no room
  /// for the range.
  void* allocate(std::size_t bytes, std::size_t alignment = smallest);
  void free(void* block);
  bool holds(const void* block) const;
  /// How many bytes the block has.
  static std::size_t capacity(const void* block);

  /// Around fork(): no other thread is inside meanwhile.
  void lock();
  void unlock();

  static constexpr std::size_t smallest = 16;

 private:
  static constexpr int sizes = 160;
  struct Free {
    Free* next;
  };

  /// The blocks of one size, which lie together, so that where one is depends on those of its size alone.
  struct Size {
    Free* free = nullptr;
    char* used = nullptr;    ///< up to where blocks were made
    char* usable = nullptr;  ///< up to where memory may be written
  };

  bool reserve();
  void* extend(int size);

  std::uintptr_t place_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  enum class State : unsigned char { none, reserved, failed } state_ = State::none;
  Size sizes_[sizes] = {};
};

}  // namespace holdfast::heap
