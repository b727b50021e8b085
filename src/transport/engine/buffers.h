#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace holdfast::transport {

/// Byte buffers in sizes of powers of two from 64 bytes to 16 MiB, taken and given back in constant time: a few of each
/// size are kept, so that steady traffic allocates nothing. Not thread-safe.
class Buffers {
 public:
  Buffers() = default;
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// At least `bytes` bytes, 1 to 16 MiB; larger ones are allocated and freed each time.
  std::byte* take(std::size_t bytes);
  /// `bytes` as it was taken.
  void give(std::byte* buffer, std::size_t bytes);

  /// Bytes that were asked for and not given back, and how many buffers.
  std::size_t bytes_in_use() const { return bytes_in_use_; }
  std::size_t in_use() const { return in_use_; }
  /// Bytes of memory held, in use or kept.
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  static constexpr std::size_t least_shift = 6;
  static constexpr std::size_t classes = 19;
  static constexpr std::size_t most_kept_bytes = 4 << 20;  // of one size

  static std::size_t class_of(std::size_t bytes);

  std::array<std::vector<std::byte*>, classes> kept_;
  std::size_t bytes_in_use_ = 0;
  std::size_t in_use_ = 0;
  std::size_t memory_bytes_ = 0;
};

}  // namespace holdfast::transport
