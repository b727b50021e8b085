#include "core/integrity/vector_state.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace holdfast::integrity {
namespace {

[[gnu::target("avx"), gnu::noinline]] void vzeroupper() {
  _mm256_zeroupper();
}

}  // namespace

void zero_upper_halves() {
  static const bool has_avx = __builtin_cpu_supports("avx") != 0;
  if (has_avx) vzeroupper();
}

}  // namespace holdfast::integrity

#else

namespace holdfast::integrity {
void zero_upper_halves() {}
}  // namespace holdfast::integrity

#endif
