// The functions of heap.cc are the test's own.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" void holdfast_heap_ask(bool (*ask)());

namespace {

volatile bool inside = false;  // the compiler knows malloc(), and that it reads nothing else

class Heap : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    holdfast_heap_ask([] { return inside; });
  }
  void TearDown() override { inside = false; }

  static bool in_region(const void* block) { return reinterpret_cast<std::uintptr_t>(block) >> 44 == 1; }
};

TEST_F(Heap, WhatIsAskedForInsideIsElsewhere) {
  void* const outer = malloc(100);
  inside = true;
  void* const inner = malloc(100);
  inside = false;
  EXPECT_FALSE(in_region(outer));
  EXPECT_TRUE(in_region(inner));
  free(inner);
  inside = true;
  free(outer);
}

TEST_F(Heap, WhatHappensInsideLeavesTheProgramsAddressesAlone) {
  const auto next = [] {
    void* const block = malloc(5000);
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    free(block);
    return address;
  };
  const std::uintptr_t before = next();
  inside = true;
  void* kept[100];
  for (std::size_t i = 0; i < 100; ++i) kept[i] = malloc(i * 50);
  inside = false;
  EXPECT_EQ(next(), before);
  for (void* block : kept) free(block);
  EXPECT_EQ(next(), before);
}

TEST_F(Heap, BlocksGrowAcross) {
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      inside = first;
      char* block = static_cast<char*>(malloc(64));
      std::memset(block, 'x', 64);
      inside = second;
      block = static_cast<char*>(realloc(block, 100000));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(std::string(block, 64), std::string(64, 'x'));
      block = static_cast<char*>(realloc(block, 10));
      EXPECT_EQ(std::string(block, 10), std::string(10, 'x'));
      free(block);
    }
  }
}

TEST_F(Heap, CallocClearsABlockThatWasUsed) {
  inside = true;
  void* const used = malloc(1000);
  std::memset(used, 0xff, 1000);
  const auto place = reinterpret_cast<std::uintptr_t>(used);  // the pointer itself is worth nothing once it is freed
  free(used);
  auto* const clear = static_cast<unsigned char*>(calloc(10, 100));
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(clear), place);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(clear[i], 0);
  free(clear);
  volatile std::size_t huge = SIZE_MAX / 2;
  EXPECT_EQ(calloc(huge, 4), nullptr);
}

TEST_F(Heap, AlignsAsAsked) {
  for (const bool where : {false, true}) {
    inside = where;
    void* block = nullptr;
    EXPECT_EQ(posix_memalign(&block, 3, 10), EINVAL);
    ASSERT_EQ(posix_memalign(&block, 4096, 10), 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 4096, 0u);
    EXPECT_EQ(in_region(block), where);
    EXPECT_GE(malloc_usable_size(block), 10u);
    free(block);
    block = aligned_alloc(256, 512);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 256, 0u);
    free(block);
  }
}

TEST_F(Heap, AChildHasAHeapToo) {
  inside = true;
  const pid_t child = fork();
  if (child == 0) {
    void* const block = malloc(100);
    const bool there = in_region(block);
    free(block);
    _exit(there ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
