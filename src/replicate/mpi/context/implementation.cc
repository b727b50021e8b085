#include "replicate/mpi/context/implementation.h"

#ifdef HOLDFAST_STANDARD_ABI
#include <array>

#include "real_functions.h"

namespace holdfast::replicate {

namespace {

bool ask_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  return library().Get_library_version(text.data(), &length) == MPI_SUCCESS && says_open_mpi(text.data());
}

}  // namespace

bool is_open_mpi() {
  static const bool answer = ask_library();
  return answer;
}

}  // namespace holdfast::replicate
#endif
