#include "replicate/heap/region.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace holdfast::heap {
namespace {

Region region{std::uintptr_t{0x2000} << 32};

TEST(Region, BlocksOfAnySizeAreLargeEnoughAlignedAndApart) {
  std::mt19937_64 random(7);
  std::map<std::uintptr_t, std::size_t> blocks;  // by address: bytes
  for (int i = 0; i < 20000; ++i) {
    if (blocks.size() > 300 || (random() % 3 == 0 && !blocks.empty())) {
      auto any = blocks.lower_bound(random());
      if (any == blocks.end()) any = blocks.begin();
      region.free(reinterpret_cast<void*>(any->first));
      blocks.erase(any);
      continue;
    }
    const std::size_t bytes = random() % (std::size_t{1} << random() % 20);
    const std::size_t alignment = std::size_t{1} << random() % 14;
    void* const block = region.allocate(bytes, alignment);
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(region.holds(block));
    ASSERT_GE(Region::capacity(block), bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    ASSERT_EQ(address % alignment, 0u);
    ASSERT_EQ(address % 16, 0u);
    const auto next = blocks.lower_bound(address);
    if (next != blocks.end()) {
      ASSERT_LE(address + Region::capacity(block), next->first);
    }
    if (next != blocks.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, address);
    }
    std::memset(block, 1, Region::capacity(block));
    blocks[address] = Region::capacity(block);
  }
  for (const auto& [address, bytes] : blocks) region.free(reinterpret_cast<void*>(address));
}

TEST(Region, LosesNoMoreThanAQuarterAndWhatAlignmentTakes) {
  for (std::size_t bytes = 1; bytes < 100000; bytes += 37) {
    void* const block = region.allocate(bytes);
    EXPECT_LE(Region::capacity(block), bytes + bytes / 4 + 32) << bytes;
    region.free(block);
  }
}

TEST(Region, UsesAFreedBlockAgain) {
  void* const block = region.allocate(1000);
  region.free(block);
  EXPECT_EQ(region.allocate(1000), block);
  region.free(block);
}

TEST(Region, HoldsNothingElse) {
  int local = 0;
  std::vector<int> other(10);
  EXPECT_FALSE(region.holds(&local));
  EXPECT_FALSE(region.holds(other.data()));
  EXPECT_FALSE(region.holds(nullptr));
}

TEST(Region, SaysWhenThereIsNoRoom) {
  EXPECT_EQ(region.allocate(std::size_t{1} << 45), nullptr);
}

TEST(Region, SeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int number = 1; number <= 4; ++number) {
    threads.emplace_back([number] {
      std::mt19937 random(static_cast<unsigned>(number));
      std::vector<std::pair<unsigned char*, std::size_t>> mine;
      for (int i = 0; i < 20000; ++i) {
        const std::size_t bytes = 1 + random() % 200;
        auto* const block = static_cast<unsigned char*>(region.allocate(bytes));
        std::memset(block, number, bytes);
        mine.emplace_back(block, bytes);
        if (mine.size() < 50) continue;
        for (const auto& [kept, length] : mine) {
          for (std::size_t k = 0; k < length; ++k) ASSERT_EQ(kept[k], number);
          region.free(kept);
        }
        mine.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace holdfast::heap
