#include "replicate/mpi/agree/idle_tests.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

namespace holdfast::replicate {
namespace {

bool* variable_of_open_mpi() {
  return static_cast<bool*>(dlsym(RTLD_DEFAULT, "opal_progress_yield_when_idle"));
}

#ifdef OPEN_MPI
TEST(IdleTests, KeepTheCoreAsLongAsTheLibraryWaits) {
  bool* const yields = variable_of_open_mpi();
  ASSERT_NE(yields, nullptr);
  const bool before = *yields;
  for (const bool told : {false, true}) {
    *yields = told;
    {
      const KeepCoreInTests outer;
      EXPECT_FALSE(*yields);
      { const KeepCoreInTests inner; }
      EXPECT_FALSE(*yields);
    }
    EXPECT_EQ(*yields, told);
  }
  *yields = before;
}
#else
TEST(IdleTests, NothingIsChangedElsewhere) {
  ASSERT_EQ(variable_of_open_mpi(), nullptr);
  const KeepCoreInTests keep;
}
#endif

}  // namespace
}  // namespace holdfast::replicate
