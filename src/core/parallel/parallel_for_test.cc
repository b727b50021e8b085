#include "core/parallel/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace holdfast::parallel {
namespace {

TEST(ParallelFor, GivesEveryPieceToOneWorker) {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{1001}}) {
      std::vector<std::atomic<int>> visits(count);
      std::atomic<bool> sound = true;
      parallel_for(count, 10, threads, [&](unsigned worker, std::size_t begin, std::size_t end) {
        if (worker >= thread_count(threads) || begin >= end || end > count || (threads > 1 && end - begin > 10))
          sound = false;
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_TRUE(sound) << count << " over " << threads;
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(visits[i], 1) << i << " of " << count << " over " << threads;
    }
  }
}

TEST(ParallelFor, WorkersAreNumberedApart) {
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> alone = true;
  parallel_for(1000, 1, 4, [&](unsigned worker, std::size_t, std::size_t) {
    if (++inside[worker] != 1) alone = false;
    --inside[worker];
  });
  EXPECT_TRUE(alone);
}

TEST(ParallelFor, ThrowsTheFirstExceptionOnceAllHaveEnded) {
  for (const unsigned threads : {1U, 3U}) {
    std::atomic<int> running = 0;
    EXPECT_THROW(parallel_for(100, 1, threads,
                              [&](unsigned, std::size_t begin, std::size_t) {
                                ++running;
                                const bool fails = begin == 0;
                                --running;
                                if (fails) throw std::runtime_error("the first piece");
                              }),
                 std::runtime_error);
    EXPECT_EQ(running, 0);
  }
}

}  // namespace
}  // namespace holdfast::parallel
