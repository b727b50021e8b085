#pragma once

#include <mpi.h>

#include <string_view>

#if !defined(OPEN_MPI) && !defined(MPICH)
#ifndef MPI_ABI_VERSION
#error "this mpi.h is neither Open MPI's nor MPICH's, nor that of the standard's interface (MPI 5.0, chapter 21)"
#endif
/// Compiled with the header of the standard's interface, which any MPI may stand behind. It has nothing for Fortran.
#define HOLDFAST_STANDARD_ABI 1
#endif

namespace holdfast::replicate {

/// Whether what MPI_Get_library_version says is Open MPI's.
constexpr bool says_open_mpi(std::string_view version) {
  return version.starts_with("Open MPI");
}

/// Whether the program's MPI is Open MPI; otherwise it is MPICH, or what is made from it. Known at compile time but for
/// the standard's interface, where MPI is asked once. Any thread; before MPI_Init, too.
#if defined(OPEN_MPI)
constexpr bool is_open_mpi() {
  return true;
}
#elif defined(MPICH)
constexpr bool is_open_mpi() {
  return false;
}
#else
bool is_open_mpi();
#endif

}  // namespace holdfast::replicate
