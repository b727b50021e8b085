// Nothing here may leave the upper halves of the vector registers in use: the caller's SSE code would run slower from
// then on. The processor itself tells (XGETBV with ECX = 1, Intel SDM volume 1, 13.6: the state components in use).
#include "core/integrity/vector_state.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/integrity/checksum.h"
#include "core/integrity/digest.h"
#include "core/integrity/digester.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace holdfast::integrity {
namespace {

#if defined(__x86_64__)

bool processor_tells() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(0xD, 1, &a, &b, &c, &d) != 0 && (a & 4U) != 0 && __builtin_cpu_supports("avx") != 0;
}

/// The upper halves of YMM0 to YMM15 and of ZMM0 to ZMM15 are state components 2 and 6.
[[gnu::target("xsave")]] bool upper_halves_in_use() {
  return (_xgetbv(1) & (1U << 2 | 1U << 6)) != 0;
}

void use_upper_halves() {
  asm volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n\tvinsertf128 $1, %%xmm0, %%ymm0, %%ymm0" ::: "xmm0");
}

class VectorStateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!processor_tells()) GTEST_SKIP() << "this processor does not tell which state is in use";
    use_upper_halves();
    if (!upper_halves_in_use()) GTEST_SKIP() << "this processor does not follow the upper halves";
    zero_upper_halves();
  }
};

TEST_F(VectorStateTest, ZeroingIsSeen) {
  EXPECT_FALSE(upper_halves_in_use());
}

TEST_F(VectorStateTest, DigestsLeaveNoneInUse) {
  const std::vector<std::byte> bytes(100'000, std::byte{7});
  for (const Algorithm algorithm : {Algorithm::xxh3_128, Algorithm::xxh3_64, Algorithm::crc32c}) {
    for (const std::size_t size : {8UL, 300UL, 100'000UL}) {
      const auto part = std::span(bytes).first(size);
      volatile auto low = digest(algorithm, part).low;
      const bool after_digest = upper_halves_in_use();
      EXPECT_FALSE(after_digest) << name(algorithm) << " of " << size << " bytes";
      zero_upper_halves();
      Digester digester(algorithm);
      digester.update(part);
      const bool after_update = upper_halves_in_use();
      low = digester.finish().low;
      const bool after_finish = upper_halves_in_use();
      EXPECT_FALSE(after_update) << name(algorithm) << " of " << size << " bytes, streamed";
      EXPECT_FALSE(after_finish) << name(algorithm) << " of " << size << " bytes, finished";
      static_cast<void>(low);
      zero_upper_halves();
    }
  }
}

TEST_F(VectorStateTest, CopiesWithChecksumLeaveNoneInUse) {
  const std::vector<std::byte> from(100'000, std::byte{7});
  std::vector<std::byte> to(from.size());
  for (const Checksum algorithm : {Checksum::sum, Checksum::fletcher64, Checksum::crc32c, Checksum::xxh3_64}) {
    zero_upper_halves();
    volatile auto value = copy_with_checksum(algorithm, to.data(), from);
    const bool after = upper_halves_in_use();
    EXPECT_FALSE(after) << "checksum " << static_cast<int>(algorithm);
    static_cast<void>(value);
  }
}

#endif

}  // namespace
}  // namespace holdfast::integrity
