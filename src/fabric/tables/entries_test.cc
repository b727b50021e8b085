#include "fabric/tables/entries.h"

#include <gtest/gtest.h>

namespace holdfast::fabric {
namespace {

TEST(Entries, AreAllFilledWhateverTheThreadsAndWhatTheyWereBefore) {
  for (const unsigned threads : {0U, 1U, 3U}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, (std::size_t{1} << 22) * 3 + 5}) {
      Entries entries(10, 7);
      fill_entries(entries, count, 255, threads);
      ASSERT_EQ(entries.size(), count);
      EXPECT_EQ(std::count(entries.begin(), entries.end(), 255), static_cast<std::ptrdiff_t>(count)) << threads;
    }
  }
}

TEST(Entries, CopiesKeepTheirValues) {
  Entries entries(1000, 3);
  const Entries copy = entries;
  entries.resize(2000);
  EXPECT_EQ(std::count(entries.begin(), entries.begin() + 1000, 3), 1000) << "the old ones, after growing";
  EXPECT_EQ(std::count(copy.begin(), copy.end(), 3), 1000);
}

}  // namespace
}  // namespace holdfast::fabric
