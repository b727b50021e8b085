// Memory that MPI gives the program (MPI 3.1, section 8.2). With --same-memory it is of the program's own heap, whose
// addresses are the same in every replica, and not of that which MPI's calls take (libc/same_memory.h); otherwise it
// has zero in it, as malloc()'s has (libc/cleared_blocks.h).
#include <cstdlib>
#include <cstring>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/process/own_memory.h"
#include "replicate/process/stack.h"

namespace holdfast::replicate {

namespace {

bool same_memory() {
  return program_stack.highest != 0;
}

}  // namespace

int hook::Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  if (!same_memory() || size <= 0) {
    const int code = real().Alloc_mem(size, info, baseptr);
    if (code == MPI_SUCCESS && size > 0 && static_cast<std::size_t>(size) <= longest_cleared && clears_blocks)
      std::memset(*static_cast<void**>(baseptr), 0, static_cast<std::size_t>(size));
    return code;
  }
  const ForProgram given;
  void* const memory = std::malloc(static_cast<std::size_t>(size));
  if (!memory) return real().Alloc_mem(size, info, baseptr);  // which says what is wrong
  *static_cast<void**>(baseptr) = memory;
  return MPI_SUCCESS;
}

int hook::Free_mem(void* base) {
  if (!same_memory()) return real().Free_mem(base);
  std::free(base);
  return MPI_SUCCESS;
}

}  // namespace holdfast::replicate
