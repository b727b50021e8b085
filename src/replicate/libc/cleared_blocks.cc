#include "replicate/libc/cleared_blocks.h"

#include <dlfcn.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "replicate/process/depth.h"
#include "replicate/process/own_memory.h"

namespace holdfast::replicate {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void clear_blocks_from_now_on() {}

#else

namespace {

/// The next library's function of that name. Before any constructor has run: called by the loader as well.
template <class Function>
class NextAllocation {
 public:
  constexpr explicit NextAllocation(const char* name) : name_(name) {}
  Function* get() {
    Function* found = found_.load(std::memory_order_relaxed);
    if (found) return found;
    found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
    found_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const char* name_;
  std::atomic<Function*> found_{nullptr};
};

struct NextAllocator {
  NextAllocation<void*(std::size_t)> malloc{"malloc"};
  NextAllocation<void*(void*, std::size_t)> realloc{"realloc"};
  NextAllocation<void*(std::size_t, std::size_t)> aligned_alloc{"aligned_alloc"};
  NextAllocation<void*(std::size_t, std::size_t)> memalign{"memalign"};
  NextAllocation<int(void**, std::size_t, std::size_t)> posix_memalign{"posix_memalign"};
  NextAllocation<std::size_t(void*)> usable_size{"malloc_usable_size"};
};
constinit NextAllocator next_allocator;

bool is_for_program() {
  return depth == 0 && clears_blocks.load(std::memory_order_relaxed);
}

/// Whether both are of one library, so that the one knows the other's blocks.
bool of_one_library(const void* one, const void* other) {
  Dl_info here{};
  Dl_info there{};
  return one && other && ::dladdr(one, &here) != 0 && ::dladdr(other, &there) != 0 && here.dli_fbase == there.dli_fbase;
}

/// Of a block that has so many bytes already, those that it has got.
void* cleared(void* block, std::size_t had = 0) {
  if (!block || !is_for_program()) return block;
  const std::size_t has = next_allocator.usable_size.get()(block);
  if (has > had && has <= longest_cleared) std::memset(static_cast<char*>(block) + had, 0, has - had);
  return block;
}

}  // namespace

void clear_blocks_from_now_on() {
  const bool filled_otherwise = std::getenv("HOLDFAST_RUN_SAME_MEMORY") != nullptr;
  if (!std::getenv("HOLDFAST_RUN_CLEAR_BLOCKS") || filled_otherwise) return;
  clears_blocks = of_one_library(reinterpret_cast<const void*>(next_allocator.malloc.get()),
                                 reinterpret_cast<const void*>(next_allocator.usable_size.get()));
}

#endif

}  // namespace holdfast::replicate

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] void* malloc(std::size_t bytes) noexcept {
  return hr::cleared(hr::next_allocator.malloc.get()(bytes));
}

[[gnu::visibility("default")]] void* realloc(void* block, std::size_t bytes) noexcept {
  const std::size_t had = block && hr::is_for_program() ? hr::next_allocator.usable_size.get()(block) : 0;
  return hr::cleared(hr::next_allocator.realloc.get()(block, bytes), had);
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return hr::cleared(hr::next_allocator.aligned_alloc.get()(alignment, bytes));
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return hr::cleared(hr::next_allocator.memalign.get()(alignment, bytes));
}

[[gnu::visibility("default")]] int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  const int error = hr::next_allocator.posix_memalign.get()(block, alignment, bytes);
  if (error == 0) hr::cleared(*block);
  return error;
}

}  // extern "C"

#endif
