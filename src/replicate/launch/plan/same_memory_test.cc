#include "replicate/launch/plan/same_memory.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/personality.h>

namespace holdfast::launch {
namespace {

using testing::Contains;
using testing::Pair;
using testing::StartsWith;

TEST(SameMemory, KeepsTheUsersTunablesAndThisProcessAsItIs) {
  const int before = personality(0xffffffff);
  setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1", 1);
  const auto variables = same_memory_variables();
  unsetenv("GLIBC_TUNABLES");
  ASSERT_TRUE(variables.ok()) << variables.status().message();
  EXPECT_THAT(variables.value(), Contains(Pair("GLIBC_TUNABLES", StartsWith("glibc.malloc.arena_max=1:glibc."))));
  EXPECT_THAT(variables.value(), Contains(Pair("HOLDFAST_RUN_SAME_MEMORY", "1")));
  EXPECT_EQ(personality(0xffffffff), before);
}

}  // namespace
}  // namespace holdfast::launch
