#include "transport/engine/buffers.h"

#include <algorithm>
#include <bit>
#include <new>

namespace holdfast::transport {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

Buffers::~Buffers() {
  for (const std::vector<std::byte*>& kept : kept_) {
    for (std::byte* buffer : kept) ::operator delete(buffer, alignment);
  }
}

std::size_t Buffers::class_of(std::size_t bytes) {
  const auto shift = static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(bytes, 1) - 1));
  return std::max(shift, least_shift) - least_shift;
}

std::byte* Buffers::take(std::size_t bytes) {
  bytes_in_use_ += bytes;
  ++in_use_;
  const std::size_t size_class = class_of(bytes);
  if (size_class < classes && !kept_[size_class].empty()) {
    std::byte* buffer = kept_[size_class].back();
    kept_[size_class].pop_back();
    return buffer;
  }
  const std::size_t size = size_class < classes ? std::size_t{1} << (size_class + least_shift) : bytes;
  memory_bytes_ += size;
  return static_cast<std::byte*>(::operator new(size, alignment));
}

void Buffers::give(std::byte* buffer, std::size_t bytes) {
  bytes_in_use_ -= bytes;
  --in_use_;
  const std::size_t size_class = class_of(bytes);
  const std::size_t size = size_class < classes ? std::size_t{1} << (size_class + least_shift) : bytes;
  if (size_class < classes && (kept_[size_class].size() + 1) * size <= most_kept_bytes) {
    kept_[size_class].push_back(buffer);
    return;
  }
  memory_bytes_ -= size;
  ::operator delete(buffer, alignment);
}

}  // namespace holdfast::transport
