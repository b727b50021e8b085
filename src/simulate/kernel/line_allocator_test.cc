#include "simulate/kernel/line_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace holdfast::simulate {
namespace {

TEST(LineAllocator, MemoryBeginsWithALine) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{4096}, (std::size_t{2} << 20) - 1,
                                  std::size_t{2} << 20, (std::size_t{5} << 20) + 1}) {
    auto* memory = static_cast<unsigned char*>(allocate_lines(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U) << bytes;
    memory[0] = memory[bytes - 1] = 7;
    free_lines(memory);
  }
}

TEST(LineAllocator, AVectorKeepsWhatItHoldsAcrossTheBound) {
  std::vector<std::uint64_t, LineAllocator<std::uint64_t>> numbers;
  for (std::uint64_t i = 0; i < 600'000; ++i) numbers.push_back(i);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}), 600'000ULL * 599'999 / 2);
  numbers.resize(10);
  numbers.shrink_to_fit();
  EXPECT_EQ(numbers.back(), 9U);
}

}  // namespace
}  // namespace holdfast::simulate
