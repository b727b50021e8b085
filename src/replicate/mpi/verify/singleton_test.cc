// Tests of the preloaded library's parts: one process, its real MPI started, nothing replicated.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  setenv("HOLDFAST_REPLICATE_DEGREE", "1", 1);
  MPI_Init(&argc, &argv);
  const int code = RUN_ALL_TESTS();
  MPI_Finalize();
  return code;
}
