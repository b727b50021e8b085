#include "replicate/process/stack.h"

#include <sys/resource.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

namespace holdfast::replicate {

namespace {
/// The loader, and MPI_Init, which loads more, go deeper than any call later on.
constexpr std::size_t deepest_startup = std::size_t{1} << 20;
}  // namespace

void clear_stack_from_now_on(const void* top) {
  constexpr rlim_t most = rlim_t{8} << 20;
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  const rlim_t usable = std::min(limit.rlim_cur, most);  // RLIM_INFINITY is the greatest
  if (usable <= 2 * deepest_startup) return;
  const auto address = reinterpret_cast<std::uintptr_t>(top);
  program_stack = {address - usable + 2 * deepest_startup, address};
}

namespace {

#ifdef __x86_64__
// Registers that a function may leave as it likes (System V ABI). The loader saves them on the stack when it looks up a
// function that is called for the first time.
[[gnu::target("avx"), gnu::noinline]] void clear_registers_0_to_15() {
  _mm256_zeroall();
}

[[gnu::target("avx512f"), gnu::noinline]] void clear_registers_16_to_31() {
  asm volatile(
      "vpxord %%zmm16, %%zmm16, %%zmm16\n vpxord %%zmm17, %%zmm17, %%zmm17\n"
      "vpxord %%zmm18, %%zmm18, %%zmm18\n vpxord %%zmm19, %%zmm19, %%zmm19\n"
      "vpxord %%zmm20, %%zmm20, %%zmm20\n vpxord %%zmm21, %%zmm21, %%zmm21\n"
      "vpxord %%zmm22, %%zmm22, %%zmm22\n vpxord %%zmm23, %%zmm23, %%zmm23\n"
      "vpxord %%zmm24, %%zmm24, %%zmm24\n vpxord %%zmm25, %%zmm25, %%zmm25\n"
      "vpxord %%zmm26, %%zmm26, %%zmm26\n vpxord %%zmm27, %%zmm27, %%zmm27\n"
      "vpxord %%zmm28, %%zmm28, %%zmm28\n vpxord %%zmm29, %%zmm29, %%zmm29\n"
      "vpxord %%zmm30, %%zmm30, %%zmm30\n vpxord %%zmm31, %%zmm31, %%zmm31\n"
      :
      :
      : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
        "xmm28", "xmm29", "xmm30", "xmm31");
}

/// Those with which the C library's functions on strings compare and select bytes.
[[gnu::target("avx512f"), gnu::noinline]] void clear_masks() {
  asm volatile(
      "kxorw %%k0, %%k0, %%k0\n kxorw %%k1, %%k1, %%k1\n kxorw %%k2, %%k2, %%k2\n kxorw %%k3, %%k3, %%k3\n"
      "kxorw %%k4, %%k4, %%k4\n kxorw %%k5, %%k5, %%k5\n kxorw %%k6, %%k6, %%k6\n kxorw %%k7, %%k7, %%k7\n"
      :
      :
      : "k1", "k2", "k3", "k4", "k5", "k6", "k7");
}

void clear_registers() {
  if (__builtin_cpu_supports("avx512f") != 0) {
    clear_masks();
    clear_registers_16_to_31();
  }
  if (__builtin_cpu_supports("avx") != 0) clear_registers_0_to_15();
}
#else
void clear_registers() {}
#endif

}  // namespace

namespace {

template <std::size_t bytes>
[[gnu::noinline]] void clear_below() {
  char below[bytes];
  std::memset(below, 0, sizeof(below));
  asm volatile("" : : "r"(below) : "memory");
}

bool first_call_cleared = false;

}  // namespace

void clear_startup() {
  if (program_stack.highest == 0) return;
  clear_below<deepest_startup>();
  clear_registers();
}

// The registers of arguments are zero when it returns: printf() and others of the kind save all of them in their frame,
// however many arguments they have.
[[gnu::noinline, gnu::zero_call_used_regs("all-gpr")]] void clear_stack() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here < program_stack.lowest || here > program_stack.highest) return;
  if (!first_call_cleared) clear_below<deepest_startup>();
  first_call_cleared = true;
  clear_below<cleared_bytes>();
  clear_registers();
  asm volatile("");  // a call at the end would be a jump, and return for this function
}

}  // namespace holdfast::replicate
