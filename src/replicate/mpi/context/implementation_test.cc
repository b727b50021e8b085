#include "replicate/mpi/context/implementation.h"

#include <gtest/gtest.h>

#include <array>

namespace holdfast::replicate {
namespace {

TEST(Implementation, IsToldByItsVersion) {
  EXPECT_TRUE(says_open_mpi("Open MPI v6.0.0rc2, package: Debian OpenMPI"));
  EXPECT_FALSE(says_open_mpi("MPICH Version:      5.0.2\nMPICH Release date: ..."));
  EXPECT_FALSE(says_open_mpi("Intel(R) MPI Library 2021.13 for Linux* OS"));
  EXPECT_FALSE(says_open_mpi(""));
}

TEST(Implementation, IsTheOneThatIsLinked) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  ASSERT_EQ(MPI_Get_library_version(version.data(), &length), MPI_SUCCESS);
  EXPECT_EQ(is_open_mpi(), says_open_mpi(version.data())) << version.data();
}

}  // namespace
}  // namespace holdfast::replicate
