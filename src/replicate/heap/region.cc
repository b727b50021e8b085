#include "replicate/heap/region.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace holdfast::heap {

namespace {

constexpr std::size_t room = std::size_t{1} << 33;  // for the blocks of one size: addresses, not memory
constexpr std::size_t step = std::size_t{1} << 16;

/// In front of each block.
struct Header {
  std::uint32_t size;    ///< its number
  std::uint32_t before;  ///< bytes from the beginning of what was taken to the block
};
static_assert(sizeof(Header) <= Region::smallest);

Header& header_of(const void* block) {
  return *reinterpret_cast<Header*>(static_cast<char*>(const_cast<void*>(block)) - sizeof(Header));
}

/// Four sizes from each power of two to the next, from 32 on.
constexpr std::size_t bytes_of(int size) {
  return (std::size_t{4} + static_cast<std::size_t>(size % 4)) << (size / 4 + 3);
}

int size_for(std::size_t bytes) {
  if (bytes <= bytes_of(0)) return 0;
  const int power = static_cast<int>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power + 1)
  const int size = (power - 5) * 4 + static_cast<int>((bytes - 1) >> (power - 2)) - 4;
  return size + 1;
}

}  // namespace

void Region::lock() {
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
}

void Region::unlock() {
  busy_.clear(std::memory_order_release);
}

bool Region::holds(const void* block) const {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return address >= place_ && address < place_ + sizes * room;
}

bool Region::reserve() {
  void* const wish = reinterpret_cast<void*>(place_);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const got = mmap(wish, sizes * room, PROT_NONE, flags, -1, 0);
  if (got == wish) return true;
  if (got != MAP_FAILED) munmap(got, sizes * room);  // by a kernel that does not know MAP_FIXED_NOREPLACE
  return false;
}

void* Region::extend(int size) {
  if (state_ == State::none) state_ = reserve() ? State::reserved : State::failed;
  if (state_ == State::failed) return nullptr;
  Size& own = sizes_[size];
  char* const begin = reinterpret_cast<char*>(place_ + static_cast<std::size_t>(size) * room);
  if (!own.used) own.used = own.usable = begin;
  const std::size_t bytes = bytes_of(size);
  if (bytes > static_cast<std::size_t>(begin + room - own.used)) return nullptr;
  const auto there = static_cast<std::size_t>(own.usable - own.used);
  if (bytes > there) {
    const std::size_t more = (bytes - there + step - 1) / step * step;
    if (mprotect(own.usable, more, PROT_READ | PROT_WRITE) != 0) return nullptr;
    own.usable += more;
  }
  char* const taken = own.used;
  own.used += bytes;
  return taken;
}

void* Region::allocate(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, smallest);
  if (bytes > room || alignment > (std::size_t{1} << 30)) return nullptr;
  const int size = size_for(bytes + alignment);
  lock();
  Free*& free = sizes_[size].free;
  char* taken = reinterpret_cast<char*>(free);
  if (taken) {
    free = free->next;
  } else {
    taken = static_cast<char*>(extend(size));
  }
  unlock();
  if (!taken) return nullptr;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(taken) + sizeof(Header);
  const std::uintptr_t aligned = (first + alignment - 1) / alignment * alignment;
  char* const block = taken + (aligned - reinterpret_cast<std::uintptr_t>(taken));
  header_of(block) = {static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(block - taken)};
  return block;
}

void Region::free(void* block) {
  const Header header = header_of(block);
  auto* const freed = reinterpret_cast<Free*>(static_cast<char*>(block) - header.before);
  lock();
  freed->next = sizes_[header.size].free;
  sizes_[header.size].free = freed;
  unlock();
}

std::size_t Region::capacity(const void* block) {
  const Header header = header_of(block);
  return bytes_of(static_cast<int>(header.size)) - header.before;
}

}  // namespace holdfast::heap
