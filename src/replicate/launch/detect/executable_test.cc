#include "replicate/launch/detect/executable.h"

#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

TEST(FindExecutable, SearchesTheFoldersInOrder) {
  auto found = find_executable("sh", "/nowhere:/bin:/usr/bin");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), "/bin/sh");
}

TEST(FindExecutable, TakesAPathAsItIs) {
  auto found = find_executable("/bin/sh", "");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), "/bin/sh");
}

TEST(FindExecutable, TellsWhyNot) {
  EXPECT_EQ(find_executable("no-such-program", "/bin").status().code(), Code::not_found);
  EXPECT_EQ(find_executable("", "/bin").status().code(), Code::not_found);
  EXPECT_EQ(find_executable("/bin/no-such-program").status().code(), Code::not_found);
  EXPECT_EQ(find_executable("/usr").status().code(), Code::bad_input);
  EXPECT_EQ(find_executable("/etc/passwd").status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::launch
