#include "replicate/libc/cleared_blocks.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "replicate/process/depth.h"
#include "replicate/process/own_memory.h"

namespace holdfast::replicate {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

class ClearedBlocks : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HOLDFAST_RUN_CLEAR_BLOCKS", "1", 1);
    clear_blocks_from_now_on();
  }
  void TearDown() override {
    unsetenv("HOLDFAST_RUN_CLEAR_BLOCKS");
    clears_blocks = false;
  }

  static bool is_clear(const void* block) {
    const auto* const bytes = static_cast<const char*>(block);
    return std::all_of(bytes, bytes + malloc_usable_size(const_cast<void*>(block)),
                       [](char byte) { return byte == 0; });
  }

  /// Whether a block of that size is clear, at a place where there was another one.
  static bool is_clear_again(std::size_t bytes, const std::function<void*()>& give) {
    void* const before = std::malloc(bytes);
    std::memset(before, 'x', malloc_usable_size(before));
    asm volatile("" : : "r"(before) : "memory");
    std::free(before);
    void* const block = give();
    const bool clear = is_clear(block);
    std::free(block);
    return clear;
  }
};

TEST_F(ClearedBlocks, HaveZeroWhereverTheyComeFrom) {
  for (const std::size_t bytes : {1, 24, 100, 1032, 4096, 70'000, 1 << 20}) {
    for (int again = 0; again < 3; ++again) {
      EXPECT_TRUE(is_clear_again(bytes, [&] { return std::malloc(bytes); })) << bytes;
      EXPECT_TRUE(is_clear_again(bytes, [&] { return std::realloc(nullptr, bytes); })) << bytes;
      EXPECT_TRUE(is_clear_again(bytes, [&] { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); })) << bytes;
      EXPECT_TRUE(is_clear_again(bytes, [&] { return memalign(64, bytes); })) << bytes;
      EXPECT_TRUE(is_clear_again(bytes, [&] {
        void* block = nullptr;
        return posix_memalign(&block, 64, bytes) == 0 ? block : nullptr;
      })) << bytes;
    }
  }
}

TEST_F(ClearedBlocks, KeepWhatTheyHadWhenTheyGrow) {
  auto* block = static_cast<char*>(std::malloc(40));
  std::memset(block, 'k', 40);
  for (std::size_t bytes = 80; bytes <= 100'000; bytes *= 3) {
    EXPECT_TRUE(is_clear_again(bytes, [&] { return std::malloc(bytes); }));
    block = static_cast<char*>(std::realloc(block, bytes));
    ASSERT_TRUE(std::all_of(block, block + 40, [](char byte) { return byte == 'k'; }));
    EXPECT_TRUE(std::all_of(block + 40, block + malloc_usable_size(block), [](char byte) { return byte == 0; }));
  }
  std::free(block);
}

TEST_F(ClearedBlocks, AreTheProgramsAlone) {
  const Depth inside;
  EXPECT_FALSE(is_clear_again(4000, [] { return std::malloc(4000); }));
}

TEST_F(ClearedBlocks, AreNotThoseOfTheSameMemoryWhichTheCLibraryFills) {
  clears_blocks = false;
  setenv("HOLDFAST_RUN_SAME_MEMORY", "1", 1);
  clear_blocks_from_now_on();
  unsetenv("HOLDFAST_RUN_SAME_MEMORY");
  EXPECT_FALSE(clears_blocks);
}

#endif

}  // namespace
}  // namespace holdfast::replicate
