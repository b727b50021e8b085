#include "replicate/mpi/agree/thread_name.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace holdfast::replicate {
namespace {

/// A thread that has been created by `creator`.
ThreadName create(ThreadName& creator) {
  const ThreadName created{creator.next(), 0};
  ++creator.created;
  return created;
}

/// The names of three generations, in which each thread creates four.
std::vector<std::uint64_t> family() {
  std::vector<std::uint64_t> names;
  ThreadName first{1, 0};
  for (int i = 0; i < 4; ++i) {
    ThreadName child = create(first);
    names.push_back(child.name);
    for (int k = 0; k < 4; ++k) names.push_back(create(child).name);
  }
  return names;
}

TEST(ThreadName, TellsThreadsApartAndIsTheSameAgain) {
  const std::vector<std::uint64_t> names = family();
  EXPECT_EQ(std::set<std::uint64_t>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names, family());
}

TEST(ThreadName, AThreadWithoutOneGivesNone) {
  ThreadName none;
  EXPECT_EQ(none.next(), 0U);
  EXPECT_EQ(create(none).next(), 0U);
}

TEST(ThreadName, TheFirstThreadHasOne) {
  EXPECT_NE(thread_name().name, 0U);
}

}  // namespace
}  // namespace holdfast::replicate
