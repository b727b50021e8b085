#include "simulate/kernel/line_allocator.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace holdfast::simulate {
namespace {

constexpr std::align_val_t line{64};
constexpr std::size_t large = std::size_t{2} << 20;

/// Whole small pages of it, of which the system makes huge ones where they fit. It is not aligned to them: arrays that
/// all begin at such a bound would compete for the same sets of the caches.
void ask_for_huge_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // refused: slower, and as good
#else
  (void)memory, (void)bytes;
#endif
}

}  // namespace

void* allocate_lines(std::size_t bytes) {
  void* memory = ::operator new(bytes, line);
  if (bytes >= large) ask_for_huge_pages(memory, bytes);
  return memory;
}

void free_lines(void* memory) {
  ::operator delete(memory, line);
}

}  // namespace holdfast::simulate
