// malloc() and its kin, where replicas are to have the same memory (libc/same_memory.h): before the program begins, and
// while a thread is inside MPI or Holdfast, memory comes from a region of its own. What those ask for depends on when
// messages come, and would move what the program asks for later; so the program's own heap, which stays that of the C
// library, has the same history and so the same addresses in every replica.
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "replicate/heap/region.h"

using holdfast::heap::Region;

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);
}

namespace {

// Far from where Linux puts programs, stacks and mappings.
constinit Region region{std::uintptr_t{0x1000} << 32};
constinit std::atomic<bool (*)()> inside{nullptr};

bool is_inside() {
  bool (*const ask)() = inside.load(std::memory_order_relaxed);
  return ask == nullptr || ask();
}

void* aligned(std::size_t alignment, std::size_t bytes) {
  if (is_inside()) {
    if (void* block = region.allocate(bytes, alignment)) return block;
  }
  return __libc_memalign(alignment, bytes);
}

std::size_t page() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

bool power_of_two(std::size_t number) {
  return number != 0 && (number & (number - 1)) == 0;
}

/// glibc 2.41's free() leaves a random number of the process on the stack (the key by which it knows blocks that were
/// freed twice), also where its cache of freed blocks is off: the frames below the caller's are cleared, as after calls
/// of MPI (process/stack.h), and the registers of arguments, which printf() saves in its frame.
[[gnu::noinline, gnu::zero_call_used_regs("all-gpr")]] void clear_frames_of_free() {
  char below[1024];
  std::memset(below, 0, sizeof below);
  asm volatile("" : : "r"(below) : "memory");
}

void free_of_program(void* block) {
  __libc_free(block);
  if (!is_inside()) clear_frames_of_free();
}

/// To a block of the region, or from there to the C library's heap once the thread is the program's.
void* moved(void* block, std::size_t bytes) {
  void* const other = malloc(bytes);
  if (!other) return nullptr;
  std::memcpy(other, block, std::min(bytes, Region::capacity(block)));
  region.free(block);
  return other;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

/// The program begins. `ask`: whether the calling thread is inside MPI or Holdfast.
EXPORTED void holdfast_heap_ask(bool (*ask)()) {
  pthread_atfork([] { region.lock(); }, [] { region.unlock(); }, [] { region.unlock(); });
  inside.store(ask, std::memory_order_relaxed);
}

EXPORTED void* malloc(std::size_t bytes) noexcept {
  if (is_inside()) {
    if (void* block = region.allocate(bytes)) return block;
  }
  return __libc_malloc(bytes);
}

EXPORTED void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (is_inside() && !__builtin_mul_overflow(count, bytes, &all)) {
    if (void* block = region.allocate(all)) return std::memset(block, 0, all);
  }
  return __libc_calloc(count, bytes);
}

EXPORTED void free(void* block) noexcept {
  region.holds(block) ? region.free(block) : free_of_program(block);
}

EXPORTED void* realloc(void* block, std::size_t bytes) noexcept {
  if (!block) return malloc(bytes);
  if (!region.holds(block)) {
    void* const other = __libc_realloc(block, bytes);
    if (!is_inside()) clear_frames_of_free();
    return other;
  }
  if (bytes == 0) {
    region.free(block);
    return nullptr;
  }
  return bytes <= Region::capacity(block) && is_inside() ? block : moved(block, bytes);
}

EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes);
}

EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes);
}

EXPORTED int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  if (!power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const got = aligned(alignment, bytes);
  if (!got) return ENOMEM;
  *block = got;
  return 0;
}

EXPORTED void* valloc(std::size_t bytes) noexcept {
  return aligned(page(), bytes);
}

EXPORTED void* pvalloc(std::size_t bytes) noexcept {
  return aligned(page(), (bytes + page() - 1) / page() * page());
}

EXPORTED std::size_t malloc_usable_size(void* block) noexcept {
  if (region.holds(block)) return Region::capacity(block);
  static const auto real = reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  return real(block);
}
